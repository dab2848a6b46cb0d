/** Rows for people: columns as wide as their widest cell. */

/** One line a row. What could move the cursor of a terminal is taken out of the cells. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) =>
    row.map((cell) => cell.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?')),
  );
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Milliseconds as people say them; `-` for none. */
export function duration(ms: unknown): string {
  if (typeof ms !== 'number') return '-';
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 120_000) return `${Math.round(ms / 1000)}s`;
  return ms < 7_200_000 ? `${Math.round(ms / 60_000)}m` : `${Math.round(ms / 3_600_000)}h`;
}
