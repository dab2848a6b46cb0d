/** Which known name somebody probably meant. */

/** How many letters have to be put in, taken out, replaced or swapped with their neighbour. */
function distance(from: string, to: string): number {
  const rows: number[][] = [];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let i = 0; i <= from.length; i += 1) {
    const row: number[] = [];
    rows.push(row);
    for (let j = 0; j <= to.length; j += 1) {
      if (i === 0 || j === 0) {
        row.push(i + j);
        continue;
      }
      const replaced = at(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : Infinity;
      row.push(Math.min(at(i - 1, j) + 1, (row[j - 1] ?? Infinity) + 1, replaced, swapped));
    }
  }
  return at(from.length, to.length);
}

const plain = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();

/** The known name nearest to a mistyped one (`dail` → `dial`, `firstByte` → `first_byte`), or null when none is near. */
export function nearest(name: string, known: Iterable<string>): string | null {
  if (name.length > 64) return null;
  const given = plain(name);
  let best: string | null = null;
  let bestDistance = given.length <= 4 ? 2 : 3;
  for (const candidate of known) {
    const other = plain(candidate);
    const apart =
      given === other || given === `${other}s` || `${given}s` === other ? 0 : distance(given, other);
    if (apart < bestDistance) {
      best = candidate;
      bestDistance = apart;
    }
  }
  return best;
}
