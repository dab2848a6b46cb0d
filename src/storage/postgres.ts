/**
 * PostgreSQL as an Executor: a bounded pool; every wait has an end; a connection that failed is thrown away; races that
 * the server calls off are run again. A server that is away is asked anew with each call, and nothing else is needed.
 */
import pg from 'pg';
import type { Clock } from '../core/clock.js';
import type { Secret } from '../core/secret.js';
import { StorageRefused, type Executor, type SqlRow, type Statement } from './executor.js';
import type { Step, StepResult, UnitResult } from './executor.js';
import { inTime } from './in-time.js';
import { StorageAway } from './ports.js';
import { errorOf, isOfRace, isOfServer, openingErrorOf } from './postgres-errors.js';
import { bringUpToDate } from './postgres-tables.js';

/** A server and how it is used. */
export interface PostgresSettings {
  readonly kind: 'postgres';
  /** A name, an address, or the folder of its socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly username: string;
  /** Null where the server asks for none. */
  readonly password: Secret | null;
  /** `encrypted`: whoever it is; `authority`: its certificate is judged; `full`: its name, too. */
  readonly tls: 'off' | 'encrypted' | 'authority' | 'full';
  /** PEM of the authorities that judge its certificate; null: the system's. */
  readonly ca: string | null;
  /** Most connections. */
  readonly connections: number;
  /** Longest time for one call. */
  readonly callMs: number;
}

/** Calls that may wait for a connection. */
const MOST_WAITING = 4096;
/** So often a unit is run that others get in the way of. */
const MOST_TRIES = 8;
const IDLE_MS = 60_000;
/** Time for new tables, with all processes that start at once one after the other. */
const TABLES_MS = 60_000;
const INT8 = 20;

/** A server as an Executor. */
export class PostgresExecutor implements Executor {
  private readonly pool: pg.Pool;
  private preparing: Promise<void> | null = null;
  private isReady = false;
  private isClosed = false;

  private constructor(
    private readonly settings: PostgresSettings,
    private readonly clock: Clock,
  ) {
    const { connections: max, callMs } = settings;
    this.pool = new pg.Pool({
      ...clientSettings(settings, callMs),
      ...{ max, idleTimeoutMillis: IDLE_MS, allowExitOnIdle: true },
    });
    // A connection that ends while nobody uses it: the next call makes a new one.
    this.pool.on('error', () => undefined);
    this.pool.on('connect', (client) => {
      client.on('error', () => undefined);
      client.query(sessionSettings(callMs)).catch(() => undefined);
    });
  }

  /** Brings the tables up to date if the server is there; otherwise that is done once it is. @throws {StorageRefused} */
  static async open(settings: PostgresSettings, clock: Clock): Promise<PostgresExecutor> {
    const executor = new PostgresExecutor(settings, clock);
    try {
      await executor.prepared();
    } catch (error) {
      if (error instanceof StorageAway) return executor;
      await executor.close();
      throw error;
    }
    return executor;
  }

  read(statement: Statement): Promise<readonly SqlRow[]> {
    return this.call(async (client) => (await run(client, statement)).rows);
  }

  unit(steps: readonly Step[]): Promise<UnitResult> {
    return this.call((client) => (steps.length === 1 ? single(client, steps) : whole(client, steps)));
  }

  backup(): Promise<void> {
    const message = 'a PostgreSQL is backed up with its own pg_dump';
    return Promise.reject(new StorageRefused('no_backup', message));
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await inTime(this.pool.end(), this.settings.callMs, this.clock).catch(() => undefined);
  }

  private async call<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.isClosed) throw new StorageAway('the database was closed');
    if (this.pool.waitingCount >= MOST_WAITING) throw new StorageAway('too much waits for the database');
    if (!this.isReady) await inTime(this.prepared(), this.settings.callMs, this.clock);
    try {
      return await inTime(this.attempts(work), this.settings.callMs, this.clock);
    } catch (error) {
      throw errorOf(error);
    }
  }

  private async attempts<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let left = MOST_TRIES - 1; ; left--) {
      try {
        return await this.attempt(work);
      } catch (error) {
        if (left <= 0 || !isOfRace(error)) throw error;
      }
    }
  }

  private async attempt<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(!isOfServer(error));
      throw error;
    }
  }

  /** One try at a time for all who wait. */
  private prepared(): Promise<void> {
    this.preparing ??= this.prepare().finally(() => (this.preparing = null));
    return this.preparing;
  }

  private async prepare(): Promise<void> {
    const client = new pg.Client(clientSettings(this.settings, TABLES_MS));
    client.on('error', () => undefined);
    try {
      await client.connect();
      await bringUpToDate(client, TABLES_MS / 2);
      this.isReady = true;
    } catch (error) {
      throw openingErrorOf(error);
    } finally {
      await inTime(client.end(), this.settings.callMs, this.clock).catch(() => undefined);
    }
  }
}

function clientSettings(settings: PostgresSettings, queryMs: number): pg.ClientConfig {
  const { host, port, database, username: user, password, callMs } = settings;
  return {
    ...{ host, port, database, user, ssl: tlsOf(settings), application_name: 'turnpike' },
    ...(password === null ? {} : { password: password.reveal() }),
    ...{ connectionTimeoutMillis: callMs, query_timeout: queryMs, keepAlive: true },
    types: { getTypeParser: parserOf },
  };
}

function tlsOf({ tls, ca, host }: PostgresSettings): pg.ClientConfig['ssl'] {
  if (tls === 'off') return false;
  const own = ca === null ? {} : { ca };
  if (tls === 'encrypted') return { ...own, rejectUnauthorized: false };
  if (tls === 'full') return { ...own, rejectUnauthorized: true, host };
  return { ...own, rejectUnauthorized: true, checkServerIdentity: () => undefined };
}

/** All whole numbers here are below 2^53. */
const parserOf: pg.CustomTypesConfig['getTypeParser'] = (oid, format) =>
  Number(oid) === INT8 ? Number : (pg.types.getTypeParser(oid, format) as (value: string) => unknown);

/** A commit is on the disk when it is answered, whatever the server does by itself; and no statement outlives its caller. */
const sessionSettings = (callMs: number) =>
  `set statement_timeout = ${callMs}; set lock_timeout = ${callMs}; set idle_in_transaction_session_timeout = ${2 * callMs};
  select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`;

async function run(client: pg.PoolClient, { sql, parameters }: Statement): Promise<StepResult> {
  const { rows, rowCount } = await client.query<SqlRow>(sql, [...parameters]);
  return { rows, count: rowCount ?? 0 };
}

/** One statement is whole by itself; what hits nothing has changed nothing. */
async function single(client: pg.PoolClient, [step]: readonly Step[]): Promise<UnitResult> {
  if (step === undefined) return { kind: 'done', results: [] };
  const result = await run(client, step);
  return step.mustHit && result.count === 0
    ? { kind: 'missed', step: 0 }
    : { kind: 'done', results: [result] };
}

async function whole(client: pg.PoolClient, steps: readonly Step[]): Promise<UnitResult> {
  const results: StepResult[] = [];
  await client.query('begin isolation level read committed');
  try {
    for (const [at, step] of steps.entries()) {
      const result = await run(client, step);
      if (step.mustHit && result.count === 0) {
        await client.query('rollback');
        return { kind: 'missed', step: at };
      }
      results.push(result);
    }
    await client.query('commit');
    return { kind: 'done', results };
  } catch (error) {
    if (isOfServer(error)) await client.query('rollback');
    throw error;
  }
}
