/**
 * A real PostgreSQL for tests: started on a free port as its own user, killed and started again with the same files,
 * ended with the test. Databases are copies of one that has the tables already; their time can be put forward.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { systemClock } from '../../src/core/clock.js';
import { Secret } from '../../src/core/secret.js';
import { openDatabase } from '../../src/storage/open-database.js';
import type { PostgresSettings } from '../../src/storage/postgres.js';
import { launch, type LaunchedProgram } from './launched-program.js';
import { asRoot, giveTo } from './real-proxies.js';
import { eventually } from './wait.js';

const HOST = '127.0.0.1';
const USER = 'turnpike';
const PASSWORD = 'a password of the database';
const TEMPLATE = 'with_tables';

/** A running server. */
export interface RealPostgres {
  readonly port: number;
  /** How to reach a database of it. */
  settings(database: string, changes?: Partial<PostgresSettings>): PostgresSettings;
  /** The same as a URL. */
  url(database: string): string;
  /** Makes an empty database with the tables; returns its name. */
  withTables(): Promise<string>;
  /** Makes an empty database without any. */
  empty(): Promise<string>;
  /** Asks a database as the test. */
  ask(database: string, sql: string): Promise<Record<string, unknown>[]>;
  /** Kills it without a word. */
  kill(): Promise<void>;
  /** Starts it again with what is on its disk, on the same port. */
  startAgain(): Promise<void>;
  close(): Promise<void>;
}

/** The newest that Debian brought, else what the path has. */
function program(name: string): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(root, version, 'bin', name)).find((path) => existsSync(path));
  return found ?? name;
}

/** It refuses to run as root. */
const asItsUser = asRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : ['env'];

function initialize(folder: string): void {
  const [command = '', ...before] = asItsUser;
  const args = ['-D', join(folder, 'data'), '-U', USER, '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'];
  const result = spawnSync(command, [...before, program('initdb'), ...args], { encoding: 'utf8' });
  if (result.status !== 0) throw new Error(`initdb: ${result.stdout}${result.stderr}`);
}

/** Starts one. @param settings as after `-c`; without fsync unless said otherwise, since no test pulls the plug of the machine */
export async function startPostgres(settings: readonly string[] = []): Promise<RealPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-postgres-'));
  if (asRoot) giveTo('postgres', folder);
  initialize(folder);
  const given = ['fsync=off', 'max_connections=150', ...settings].flatMap((each) => ['-c', each]);
  let fixedPort: number | null = null;
  const start = (): Promise<LaunchedProgram> =>
    launch({
      programs: [asItsUser[0] ?? ''],
      host: HOST,
      port: fixedPort,
      prepare: (port) => [
        ...[...asItsUser.slice(1), program('postgres'), '-D', join(folder, 'data'), '-h', HOST],
        ...['-k', folder, '-p', String(port), ...given],
      ],
      stopSignal: 'SIGINT',
    });
  let running = await start();
  const port = (fixedPort = running.port);
  const ask = (database: string, sql: string) => askOnce({ host: HOST, port, user: USER, database }, sql);
  // It listens before it is ready.
  const isReady = (): Promise<boolean> => ask('postgres', '').then(...toTruth);
  await eventually('the server to be ready', isReady);
  const settingsOf: RealPostgres['settings'] = (database, changes) => settingsAt(port, database, changes);
  await ask('postgres', `create database ${TEMPLATE}`);
  await (await openDatabase(settingsOf(TEMPLATE), { clock: systemClock })).close();
  let count = 0;
  const make = async (ending: string): Promise<string> => {
    const name = `test_${++count}`;
    await ask('postgres', `create database ${name} ${ending}`);
    return name;
  };
  return {
    port,
    settings: settingsOf,
    url: (database) =>
      `postgres://${USER}:${encodeURIComponent(PASSWORD)}@${HOST}:${port}/${database}?sslmode=disable`,
    withTables: () => make(`template ${TEMPLATE}`),
    empty: () => make('template template0'),
    ask,
    kill: async () => {
      process.kill(running.pid, 'SIGKILL');
      await eventually('the server to be gone', async () => !(await isReady()));
    },
    startAgain: async () => {
      // What a killed server leaves behind may hold its folder a moment longer.
      await eventually('the server to start', async () => {
        running = await start();
        return true;
      });
      await eventually('the server to be ready', isReady);
    },
    close: async () => {
      await running.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const toTruth = [() => true, () => false] as const;

const settingsAt = (
  port: number,
  database: string,
  changes: Partial<PostgresSettings> = {},
): PostgresSettings => ({
  ...{ kind: 'postgres', host: HOST, port, database, username: USER, password: new Secret(PASSWORD) },
  ...{ tls: 'off', ca: null, connections: 8, callMs: 20_000 },
  ...changes,
});

async function askOnce(place: pg.ClientConfig, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ ...place, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Lets time pass in one database. */
export async function passPostgresMs(server: RealPostgres, database: string, ms: number): Promise<void> {
  await server.ask(
    database,
    `create table if not exists passed (ms bigint not null);
     insert into passed values (${Math.round(ms)});
     create or replace function turnpike_now_ms() returns bigint language sql stable as
       $$ select (extract(epoch from now()) * 1000)::bigint + (select sum(ms)::bigint from public.passed) $$`,
  );
}
