/** One row of a table as text: cells may stand in double quotes, with `""` for a quote (RFC 4180); a row is one line. */

/** The cells of a row, null where a quote is not closed or something follows it. */
export function splitCsvRow(line: string, delimiter: string): string[] | null {
  if (!line.includes('"')) return line.split(delimiter);
  const cells: string[] = [];
  let at = 0;
  while (at <= line.length) {
    if (line[at] !== '"') {
      const end = line.indexOf(delimiter, at);
      cells.push(line.slice(at, end < 0 ? line.length : end));
      at = end < 0 ? line.length + 1 : end + 1;
      continue;
    }
    const end = closingQuote(line, at + 1);
    if (end < 0 || (end + 1 < line.length && line[end + 1] !== delimiter)) return null;
    cells.push(line.slice(at + 1, end).replaceAll('""', '"'));
    at = end + 2;
  }
  return cells;
}

function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at >= 0; at = line.indexOf('"', at + 2)) {
    if (line[at + 1] !== '"') return at;
  }
  return -1;
}
