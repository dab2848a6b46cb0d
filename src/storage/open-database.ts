/** Opens the store of long-lived records: the engine that the settings name, with its schema up to date. */
import type { Clock } from '../core/clock.js';
import type { Secret } from '../core/secret.js';
import type { Database } from './ports.js';

/** Where the records are. */
export type StorageSettings = SqliteSettings | PostgresSettings;

/** A file beside the gateway. */
export interface SqliteSettings {
  readonly kind: 'sqlite';
  readonly path: string;
  /** Longest time for one call. */
  readonly callMs: number;
}

/** A server. */
export interface PostgresSettings {
  readonly kind: 'postgres';
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with sslmode. */
  readonly url: Secret;
  /** PEM of the authorities that its certificate is judged by; null: the system's. */
  readonly ca: string | null;
  /** Most connections. */
  readonly connections: number;
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
export function openDatabase(settings: StorageSettings, parts: StorageParts): Promise<Database> {
  throw new Error(`not yet: ${settings.kind} ${parts.clock.nowMs()}`);
}
