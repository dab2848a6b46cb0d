/**
 * Lists as tables: a header that names the columns, then one upstream a row, parted by comma, semicolon or tab.
 * What a row is: core/csv-row.ts; what names mean: list-record.ts.
 */
import { splitCsvRow } from '../core/csv-row.js';
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
