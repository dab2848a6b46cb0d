/** A database of its own with an open vault, for gateways of a test: their stored clients and logins at upstreams. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuditUnavailable, type AuditEntry } from '../../src/audit/entry.js';
import type { AppParts } from '../../src/app.js';
import { systemClock } from '../../src/core/clock.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { StorageAway, type Database } from '../../src/storage/ports.js';
import { placeOfSecret } from '../../src/vault/envelope.js';
import { openVault } from '../../src/vault/key-vault.js';
import { VaultSealed, type Vault } from '../../src/vault/vault.js';

type Storage = NonNullable<AppParts['storage']>;

/** What a test has of it, and what may be away. */
export interface KeptStorage {
  readonly database: Database;
  readonly vault: Vault;
  /** For `parts` of a gateway. */
  readonly storage: Storage;
  /** What the audit was told. */
  readonly audited: AuditEntry[];
  readonly mood: { storage: 'there' | 'away'; vault: 'open' | 'sealed'; audit: 'takes' | 'fails' };
  /** Puts a login into the vault, or gives it another secret. */
  setLogin(key: string, username: string, password: string): Promise<void>;
  close(): Promise<void>;
}

/** Opens one. */
export async function openKeptStorage(): Promise<KeptStorage> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-storage-'));
  const settings = { kind: 'sqlite', path: join(folder, 'turnpike.db'), callMs: 5000 } as const;
  const database = await openDatabase(settings, { clock: systemClock });
  const root = randomBytes(32);
  const vault = await openVault({
    ...{ db: database, clock: systemClock, instance: 'test', emit: () => undefined },
    rootKey: () => Promise.resolve(Buffer.from(root)),
    chance: (count) => randomBytes(count),
  });
  const audited: AuditEntry[] = [];
  const mood: KeptStorage['mood'] = { storage: 'there', vault: 'open', audit: 'takes' };
  return {
    ...{ database, vault, audited, mood, storage: storageOf(database, vault, { audited, mood }) },
    setLogin: (key, username, password) => setLogin(database, vault, { key, username, password }),
    close: async () => {
      await vault.close();
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The same for whoever asks, but for the mood of the test. */
function storageOf(
  database: Database,
  vault: Vault,
  { audited, mood }: Pick<KeptStorage, 'audited' | 'mood'>,
): Storage {
  const guarded = <T extends object>(records: T): T =>
    new Proxy(records, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function')
          return typeof value === 'object' && value !== null ? guarded(value) : value;
        return (...given: unknown[]): unknown =>
          mood.storage === 'away'
            ? Promise.reject(new StorageAway('the test says so'))
            : (value.apply(target, given) as unknown);
      },
    });
  return {
    database: guarded(database),
    vault: {
      get state() {
        return mood.vault === 'open'
          ? vault.state
          : ({ kind: 'sealed', why: 'the test', isStore: false } as const);
      },
      reveal: (place, sealed) => {
        if (mood.vault === 'sealed') throw new VaultSealed('the test says so');
        return vault.reveal(place, sealed);
      },
    },
    audit: {
      record: (entry) => {
        if (mood.audit === 'fails') return Promise.reject(new AuditUnavailable('the test says so'));
        audited.push(entry);
        return Promise.resolve();
      },
    },
  };
}

async function setLogin(
  { credentials }: Database,
  vault: Vault,
  { key, username, password }: { key: string; username: string; password: string },
): Promise<void> {
  const before = await credentials.find(key);
  const id = before?.id ?? randomBytes(8).toString('hex');
  const version = (before?.version ?? 0) + 1;
  const plaintext = Buffer.from(JSON.stringify({ username, password }));
  const { kekId, sealed } = vault.seal(placeOfSecret(id, version), plaintext);
  if (before !== null) await credentials.change(key, { secret: { version, kekId, sealed } }, null);
  else
    await credentials.insert([
      {
        ...{ id, key, type: 'username_password', meta: {}, status: 'active', untilMs: null, reason: null },
        kekId,
        sealed,
      },
    ]);
}
