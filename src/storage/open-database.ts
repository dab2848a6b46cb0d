/** Opens the store of long-lived records: the engine that the settings name, with its schema up to date. */
import type { Clock } from '../core/clock.js';
import { SqlAudit } from './audit-records.js';
import { lastChange, readChanges } from './change-steps.js';
import { SqlClients } from './client-records.js';
import { SqlCredentials } from './credential-records.js';
import type { Executor } from './executor.js';
import { SqlInstances, SqlOnce } from './instance-records.js';
import { SqlKeys } from './key-records.js';
import { SqlPolicies } from './policy-records.js';
import type { Database } from './ports.js';
import { PostgresExecutor, type PostgresSettings } from './postgres.js';
import { Queries, type Engine } from './queries.js';
import { SqliteExecutor } from './sqlite.js';
import { SqlTokens } from './token-records.js';

/** Where the records are. */
export type StorageSettings = SqliteSettings | PostgresSettings;

/** A file beside the gateway. */
export interface SqliteSettings {
  readonly kind: 'sqlite';
  readonly path: string;
  /** Longest time for one call. */
  readonly callMs: number;
}

/** What opening needs. */
export interface StorageParts {
  readonly clock: Clock;
}

/**
 * Opens the store, makes or updates its tables, and resolves once it can be used. A PostgreSQL that is away is no
 * failure: its calls reject with StorageAway until it is there.
 * @throws {StorageRefused} with a message that says what to mend: not ours, corrupt, newer schema, not writable, locked
 */
export async function openDatabase(settings: StorageSettings, { clock }: StorageParts): Promise<Database> {
  if (settings.kind === 'postgres')
    return recordsOver('postgres', await PostgresExecutor.open(settings, clock), clock);
  const { path, callMs } = settings;
  return recordsOver('sqlite', await SqliteExecutor.open({ path, callMs, clock }), clock);
}

/** All records over an engine that is open. */
function recordsOver(engine: Engine, executor: Executor, clock: Clock): Database {
  const queries = new Queries(engine, executor, clock);
  return {
    engine,
    credentials: new SqlCredentials(queries),
    policies: new SqlPolicies(queries),
    tokens: new SqlTokens(queries),
    audit: new SqlAudit(queries),
    keys: new SqlKeys(queries),
    clients: new SqlClients(queries),
    instances: new SqlInstances(queries),
    once: new SqlOnce(queries),
    changes: (since, limit) => readChanges(queries, since, limit),
    lastChange: () => lastChange(queries),
    check: async () => void (await lastChange(queries)),
    backup: (path) => executor.backup(path),
    close: () => executor.close(),
  };
}
