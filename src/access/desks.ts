/** The desks of credentials, policies and tokens, and what they have in common: one index of credentials, fed from the store. */
import type { Clock } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';
import type { Limits } from '../state/ports.js';
import type { Database } from '../storage/ports.js';
import type { CredentialStatus } from '../storage/credential-ports.js';
import type { Audit } from './audit-entry.js';
import type { CredentialDesk } from './credential-desk.js';
import type { PolicyDesk } from './policy-desk.js';
import type { TokenDesk } from './token-desk.js';

/** Surroundings. `vault` is a `Vault` (src/vault/vault.ts), of which this is used. */
export interface DeskParts {
  readonly db: Database;
  readonly audit: Audit;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
}

/** All of it. */
export interface Desks {
  readonly credentials: CredentialDesk;
  readonly policies: PolicyDesk;
  readonly tokens: TokenDesk;
  /** Reads what is there and follows its changes from then on; resolves at once, and goes on trying while the store is away. */
  start(): void;
  /** Whether all of it was read once; until then acquire rejects with `StorageAway`. */
  readonly isReady: boolean;
  /** Credentials by what holds now, for metrics. */
  counts(): Readonly<Record<CredentialStatus, number>>;
  /** Writes what waits and stops following. */
  stop(): Promise<void>;
}
