/** What SQLite's codes mean to whoever asked, and values as they cross the border of a thread. */
import type { SqlRow, SqlValue, Statement, StepResult } from './executor.js';
import { StorageAway } from './ports.js';
import type { Failed } from './sqlite-messages.js';

/** By the beginning of the code. All of these may pass, and none is the caller's mistake. */
const reasons: readonly (readonly [string, string])[] = [
  ['SQLITE_BUSY', 'another process holds the database'],
  ['SQLITE_LOCKED', 'another process holds the database'],
  ['SQLITE_FULL', 'no space is left on the disk of the database'],
  ['SQLITE_IOERR', 'the disk of the database fails'],
  ['SQLITE_READONLY', 'the database may not be written any more'],
  ['SQLITE_CANTOPEN', 'the file of the database is not there any more'],
  ['SQLITE_CORRUPT', 'the database is damaged; restore a backup'],
  ['SQLITE_NOTADB', 'the database is damaged; restore a backup'],
  ['SQLITE_NOMEM', 'there is no memory left for the database'],
];

/** StorageAway for what the engine can't do now; an Error for what it never will. */
export function errorOf({ code, message }: Failed): Error {
  const reason = reasons.find(([start]) => code.startsWith(start))?.[1];
  const cause = new Error(`${code}: ${message}`);
  return reason === undefined ? cause : new StorageAway(reason, { cause });
}

/** Bytes of their own: those of a Buffer may stand in one block with others that have no business in that thread. */
export const portable = <S extends Statement>(statement: S): S =>
  statement.parameters.some((value) => Buffer.isBuffer(value))
    ? { ...statement, parameters: statement.parameters.map(portableValue) }
    : statement;

const portableValue = (value: SqlValue): SqlValue =>
  Buffer.isBuffer(value) ? (Uint8Array.from(value) as Buffer) : value;

/** Rows as they came from the thread, their bytes as Buffers. */
export const resultOf = ({ rows, count }: StepResult): StepResult => ({ rows: rows.map(rowOf), count });

/** A row as it came from the thread. */
export function rowOf(row: SqlRow): SqlRow {
  const values = row as Record<string, SqlValue | ArrayBuffer>;
  for (const name in values) {
    const value = values[name];
    if (value instanceof ArrayBuffer) values[name] = Buffer.from(value);
  }
  return row;
}
