/** The desks of credentials, policies and tokens, and what they have in common: one index of credentials, fed from the store. */
import type { Clock } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';
import type { Limits } from '../state/ports.js';
import type { Database } from '../storage/ports.js';
import type { CredentialStatus } from '../storage/credential-ports.js';
import type { Vault } from '../vault/vault.js';
import { Acquiring } from './acquire.js';
import type { Audit } from '../audit/entry.js';
import type { CredentialDesk } from './credential-desk.js';
import { CredentialIndex } from './credential-index.js';
import { Credentials } from './credentials.js';
import { IndexFeed } from './index-feed.js';
import { Policies } from './policies.js';
import type { PolicyDesk } from './policy-desk.js';
import { Reporting } from './report.js';
import { StoreTime } from './store-time.js';
import { TokenSweep } from './token-sweep.js';
import type { TokenDesk } from './token-desk.js';
import { Tokens } from './tokens.js';
import { UseCounts } from './use-counts.js';

/** Surroundings. */
export interface DeskParts {
  readonly db: Database;
  readonly vault: Pick<Vault, 'seal' | 'reveal' | 'subKey'>;
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

/** Makes the desks of one gateway. */
export function openDesks(given: DeskParts): Desks {
  const { db, clock, random } = given;
  const time = new StoreTime(clock);
  const index = new CredentialIndex(random, () => time.nowMs());
  const uses = new UseCounts(db.credentials);
  const feed = new IndexFeed({ ...given, index, uses, time });
  const { credentials, policies, tokens } = db;
  const parts = { ...given, credentials, policies, tokens, time, index, uses, feed };
  const sweep = new TokenSweep(db.tokens, clock);
  const reporting = new Reporting(parts);
  const acquiring = new Acquiring(parts);
  return {
    credentials: new Credentials(parts),
    policies: new Policies(parts),
    tokens: new Tokens({ ...parts, reporting, acquiring }),
    start() {
      feed.start();
      sweep.start();
    },
    get isReady() {
      return feed.isReady;
    },
    counts: () => index.counts(),
    async stop() {
      await sweep.stop();
      await feed.stop();
    },
  };
}
