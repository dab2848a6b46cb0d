/** Desks of gateways over one real store, with a real vault; the audit is kept in memory and can fail. */
import { randomBytes } from 'node:crypto';
import { AuditUnavailable, type Audit, type AuditEntry } from '../../src/audit/entry.js';
import { openDesks, type Desks } from '../../src/credentials/desks.js';
import type { TokenActor } from '../../src/credentials/actor.js';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { systemBytes, systemRandom } from '../../src/core/random.js';
import { MemoryLimits } from '../../src/state/memory/limits.js';
import type { Limits } from '../../src/state/ports.js';
import { openDatabase, type StorageSettings } from '../../src/storage/open-database.js';
import type { Database } from '../../src/storage/ports.js';
import { openVault } from '../../src/vault/key-vault.js';
import type { Vault } from '../../src/vault/vault.js';
import { jumpingClock, type JumpingClock } from './jumping-clock.js';
import { waitFor } from './wait.js';

/** An audit that takes everything, until it is told not to. */
export class HeardAudit implements Audit {
  readonly entries: AuditEntry[] = [];
  isAway = false;

  async record(entry: AuditEntry): Promise<void> {
    if (this.isAway) throw new AuditUnavailable('test');
    this.entries.push(entry);
    await Promise.resolve();
  }

  /** Actions and outcomes. */
  said(): string[] {
    return this.entries.map(({ action, outcome }) => `${action} ${outcome}`);
  }
}

/** One gateway's part. */
export interface DeskRig {
  readonly desks: Desks;
  readonly db: Database;
  readonly vault: Vault;
  readonly audit: HeardAudit;
  readonly events: TurnpikeEvent[];
  readonly clock: JumpingClock;
  readonly limits: Limits;
  close(): Promise<void>;
}

/** What may be others. */
export interface DeskChanges {
  readonly limits?: Limits;
  readonly clock?: JumpingClock;
  /** The same for all gateways of a store. */
  readonly rootKey?: Buffer;
  /** Put before the store. */
  readonly wrap?: (db: Database) => Database;
}

/** The root key of the tests' vaults. */
export const testRootKey = randomBytes(32);

/** Opens a gateway's desks over a store; resolves once they know what is there. */
export async function openDeskRig(settings: StorageSettings, changes: DeskChanges = {}): Promise<DeskRig> {
  const clock = changes.clock ?? jumpingClock();
  const events: TurnpikeEvent[] = [];
  const emit = (event: TurnpikeEvent): void => void events.push(event);
  const db = await openDatabase(settings, { clock });
  const rootKey = () => Promise.resolve(Buffer.from(changes.rootKey ?? testRootKey));
  const instance = randomBytes(8).toString('hex');
  const vault = await openVault({ db, rootKey, instance, clock, chance: systemBytes, emit });
  const audit = new HeardAudit();
  const limits = changes.limits ?? new MemoryLimits(clock);
  const seen = changes.wrap?.(db) ?? db;
  const desks = openDesks({ db: seen, vault, audit, limits, clock, random: systemRandom, emit });
  desks.start();
  await waitFor('the desks to have read everything', () => desks.isReady);
  const close = async (): Promise<void> => {
    await desks.stop();
    await vault.close();
    await db.close();
  };
  return { desks, db, vault, audit, events, clock, limits, close };
}

export const admin: TokenActor = { name: 'root', address: '10.0.0.1', isAdmin: true };

/** A crawler with an API token of its own. */
export const crawler = (name = 'crawler', address = '10.0.0.2'): TokenActor => ({
  name,
  address,
  isAdmin: false,
});
