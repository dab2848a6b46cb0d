/** Stores for a measurement: SQLite and PostgreSQL in a folder, and credentials to fill them with. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROJECT_ROOT } from './peer.js';
import { startBenchPostgres } from './postgres.js';

const AT_ONCE = 5000;

/** A store that is open. */
export interface Records {
  readonly credentials: { insert(rows: readonly object[]): Promise<unknown> };
  close(): Promise<void>;
}

/** What of the program is used here; its own types live outside of this folder. */
export interface Program {
  readonly openDatabase: (settings: object, parts: object) => Promise<Records>;
  readonly systemClock: object;
  readonly Secret: new (text: string) => object;
}

/** Where one gateway keeps its records. */
export interface Engine {
  readonly name: string;
  /** As `openDatabase` wants it. */
  readonly settings: (program: Program) => object;
  /** As the configuration has it. */
  readonly storage: object;
  stop(): Promise<void>;
}

/** The compiled program. */
export async function load(): Promise<Program> {
  const files = ['storage/open-database.js', 'core/clock.js', 'core/secret.js'];
  const urls = files.map((file) => pathToFileURL(join(PROJECT_ROOT, 'dist', file)).href);
  const modules = await Promise.all(urls.map((url) => import(url) as Promise<object>));
  return Object.assign({}, ...modules) as Program;
}

/** An empty file. */
export function sqlite(directory: string): Promise<Engine> {
  const path = join(directory, 'records.db');
  return Promise.resolve({
    ...{ name: 'SQLite', settings: () => ({ kind: 'sqlite', path, callMs: 60_000 }) },
    ...{ storage: { kind: 'sqlite', path }, stop: () => Promise.resolve() },
  });
}

/** An empty database of a server of its own. */
export async function postgres(directory: string): Promise<Engine> {
  const server = await startBenchPostgres(directory);
  return {
    name: 'PostgreSQL',
    settings: () => ({
      ...{ kind: 'postgres', host: '127.0.0.1', port: server.port, database: 'postgres' },
      ...{ username: 'turnpike', password: null, tls: 'off', ca: null, connections: 10, callMs: 60_000 },
    }),
    storage: { kind: 'postgres', url: `postgres://turnpike@127.0.0.1:${server.port}/postgres` },
    stop: () => server.stop(),
  };
}

/** Keeps so many credentials, of ten groups. */
export async function fill(records: Records, count: number): Promise<void> {
  const sealed = randomBytes(200);
  for (let from = 0; from < count; from += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, n) => {
      const key = `account-${String(from + n).padStart(7, '0')}`;
      const meta = { group: `g${(from + n) % 10}`, weight: (n % 5) + 1 };
      const id = randomBytes(16).toString('hex');
      return {
        id,
        key,
        type: 'api_key',
        meta,
        status: 'active',
        untilMs: null,
        reason: null,
        kekId: 'bench',
        sealed,
      };
    });
    await records.credentials.insert(rows);
  }
}
