/**
 * One connection to a SQLite file, used from one thread: opens it durable and private, brings its tables up to date, and
 * runs reads and units. Units that wait at the same time are committed together, each in a savepoint of its own.
 * Mind the library: it ends the process on a value that it doesn't know, and on values that are not in an array.
 */
import Library from 'libsql';
import { systemClock } from '../core/clock.js';
import {
  StorageRefused,
  type SqlRow,
  type SqlValue,
  type Statement,
  type Step,
  type StepResult,
} from './executor.js';
import { schemaSteps, schemaVersion, wordsOf } from './migrations/schema-steps.js';
import { prepareCopy, prepareFile } from './sqlite-file.js';
import type { Failed, Outcome, ThreadSetup } from './sqlite-messages.js';

/** `TPKE`: how a database is known as ours. */
const APPLICATION = 0x54504b45;
/** Statements that are kept ready. */
const MOST_READY = 200;
const PAUSE_MS = 20;
const CACHE_KIB = 16_384;
const WAL_BYTES = 64 * 1024 * 1024;

interface Ready {
  readonly statement: Library.Statement;
  readonly givesRows: boolean;
}

/** Opens the file. @throws {StorageRefused} */
export function openConnection(setup: ThreadSetup): SqliteConnection {
  const { path, role, busyMs } = setup;
  if (role === 'writer') prepareFile(path);
  try {
    const library = new Library(path, { timeout: busyMs });
    const connection = new SqliteConnection(library);
    for (const pragma of pragmas) connection.exec(`pragma ${pragma}`);
    if (role === 'writer') bringUpToDate(connection, path, busyMs);
    return connection;
  } catch (error) {
    throw openingRefusal(error, path);
  }
}

const pragmas = [
  ...['synchronous = full', 'secure_delete = on', 'foreign_keys = on', 'trusted_schema = off'],
  ...['temp_store = memory', `cache_size = -${CACHE_KIB}`, `journal_size_limit = ${WAL_BYTES}`],
];

/** Makes or updates the tables, one process at a time. */
function bringUpToDate(connection: SqliteConnection, path: string, busyMs: number): void {
  checkOurs(connection, path);
  // The change to WAL doesn't wait by itself where another process opens the file, too.
  patiently(busyMs, () => connection.read({ sql: 'pragma journal_mode = wal', parameters: [] }));
  connection.exec('begin immediate');
  try {
    checkOurs(connection, path);
    const version = connection.pragma('user_version');
    for (const sql of schemaSteps.slice(version).flatMap((step) => step(wordsOf('sqlite'))))
      connection.exec(sql);
    connection.exec(`pragma user_version = ${schemaVersion}`);
    connection.exec(`pragma application_id = ${APPLICATION}`);
    connection.exec('commit');
  } finally {
    connection.rollBack();
  }
}

/** @throws {StorageRefused} where the file is of another program, or of a later version of this one */
function checkOurs(connection: SqliteConnection, path: string): void {
  const [count] = connection.read({ sql: 'select count(*) as count from sqlite_master', parameters: [] });
  const application = connection.pragma('application_id');
  const isNew = application === 0 && count?.['count'] === 0;
  if (application !== APPLICATION && !isNew)
    throw new StorageRefused('not_ours', `${path} is the database of another program; name another file`);
  const version = connection.pragma('user_version');
  if (version > schemaVersion)
    throw new StorageRefused(
      'newer_schema',
      `${path} has schema ${version}, and this version of Turnpike knows ${schemaVersion}: run the version that wrote it, or a later one`,
    );
}

function patiently(mostMs: number, work: () => void): void {
  const start = systemClock.nowMs();
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (!failedOf(error).code.startsWith('SQLITE_BUSY') || systemClock.nowMs() - start > mostMs)
        throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

function openingRefusal(error: unknown, path: string): unknown {
  if (error instanceof StorageRefused) return error;
  const { code, message } = failedOf(error);
  const refused = (why: StorageRefused['why'], text: string) =>
    new StorageRefused(why, `the database ${path} can't be opened: ${text}`, { cause: error });
  if (code.startsWith('SQLITE_BUSY'))
    return refused('locked', 'another program holds it for itself; end that one, or wait for it');
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT'))
    return refused('corrupt', 'it is damaged; restore a backup');
  if (code === 'SQLITE_FULL') return refused('not_writable', 'no space is left on its disk');
  return refused('not_writable', message);
}

/** What the library threw, as a value. */
export function failedOf(error: unknown): Failed {
  const code = (error as { code?: unknown }).code;
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', code: typeof code === 'string' ? code : 'unknown', message };
}

/** A connection that is open. */
export class SqliteConnection {
  private readonly ready = new Map<string, Ready>();

  constructor(private readonly library: Library.Database) {}

  exec(sql: string): void {
    this.library.exec(sql);
  }

  pragma(name: string): number {
    return Number(this.read({ sql: `pragma ${name}`, parameters: [] })[0]?.[name]);
  }

  read(statement: Statement): readonly SqlRow[] {
    return this.run(statement).rows;
  }

  /** Runs units in their order and commits those that hit. */
  units(units: readonly (readonly Step[])[]): readonly Outcome[] {
    try {
      this.exec('begin immediate');
      const outcomes = units.map((steps) => this.unit(steps));
      if (outcomes.some(({ kind }) => kind === 'done')) this.exec('commit');
      return outcomes;
    } catch (error) {
      const failed = failedOf(error);
      return units.map(() => failed);
    } finally {
      this.rollBack();
    }
  }

  /** Undoes what is open. */
  rollBack(): void {
    try {
      if (this.library.inTransaction) this.exec('rollback');
    } catch {
      // It was undone by SQLite itself.
    }
  }

  /** Writes a whole copy to a new file. */
  backup(path: string): void {
    prepareCopy(path);
    this.run({ sql: 'vacuum into ?', parameters: [path] });
  }

  close(): void {
    this.ready.clear();
    this.library.close();
  }

  /** @throws where SQLite undid the whole transaction */
  private unit(steps: readonly Step[]): Outcome {
    this.exec('savepoint unit');
    const outcome = this.attempt(steps);
    if (outcome.kind !== 'done') this.exec('rollback to unit');
    this.exec('release unit');
    return outcome;
  }

  private attempt(steps: readonly Step[]): Outcome {
    const results: StepResult[] = [];
    try {
      for (const [at, step] of steps.entries()) {
        const result = this.run(step);
        if (step.mustHit && result.count === 0) return { kind: 'missed', step: at };
        results.push(result);
      }
      return { kind: 'done', results };
    } catch (error) {
      if (!this.library.inTransaction) throw error;
      return failedOf(error);
    }
  }

  private run({ sql, parameters }: Statement): StepResult {
    const { statement, givesRows } = this.prepared(sql);
    const values = parameters.map(boundValue);
    if (givesRows) {
      const rows = statement.all(values) as SqlRow[];
      return { rows, count: rows.length };
    }
    return { rows: [], count: statement.run(values).changes };
  }

  private prepared(sql: string): Ready {
    const known = this.ready.get(sql);
    if (known !== undefined) return known;
    const statement = this.library.prepare(sql);
    const ready = { statement, givesRows: statement.columns().length > 0 };
    const eldest = this.ready.keys().next();
    if (this.ready.size >= MOST_READY && eldest.done !== true) this.ready.delete(eldest.value);
    this.ready.set(sql, ready);
    return ready;
  }
}

/** Bytes arrive in this thread as plain ones. */
const boundValue = (value: SqlValue | Uint8Array): SqlValue =>
  value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
