/**
 * Lists as tables: a header that names the columns, then one upstream a row, parted by comma, semicolon or tab.
 * Cells may stand in double quotes, with `""` for a quote (RFC 4180); a row is one line. What names mean: list-record.ts.
 */
import { fieldNamed } from './list-record.js';
import type { ListRecord, RecordField } from './list-record.js';

/** What a header says. */
export interface CsvHeader {
  readonly delimiter: string;
  /** The field of each column, null for one that is left aside. */
  readonly columns: readonly (RecordField | null)[];
}

/** Reads a header; null for a line that is none: it must name a url, or a host, in at least two columns. */
export function readCsvHeader(line: string): CsvHeader | null {
  for (const delimiter of [',', ';', '\t']) {
    const cells = splitCsvRow(line, delimiter);
    if (cells === null || cells.length < 2) continue;
    const columns = cells.map((cell) => fieldNamed(cell));
    if (columns.includes('url') || columns.includes('host')) return { delimiter, columns };
  }
  return null;
}

/** Whether two columns mean the same; such a table is not read at all. */
export function hasTwins({ columns }: CsvHeader): boolean {
  const named = columns.filter((column) => column !== null);
  return new Set(named).size < named.length;
}

/** Reads a row; null where quotes are not closed or there are more cells than columns. */
export function readCsvRow(line: string, header: CsvHeader): ListRecord | null {
  const cells = splitCsvRow(line, header.delimiter);
  if (cells === null || cells.length > header.columns.length) return null;
  const record: ListRecord = {};
  cells.forEach((cell, place) => {
    const field = header.columns[place] ?? null;
    if (field !== null) record[field] = cell;
  });
  return record;
}

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
