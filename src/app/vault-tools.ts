/** What commands do to a store and its vault without a gateway: another root key, a look at every secret, a copy. */
import { randomUUID } from 'node:crypto';
import type { Config, VaultConfig } from '../config/config.js';
import { systemClock } from '../core/clock.js';
import { systemBytes } from '../core/random.js';
import { openDatabase } from '../storage/open-database.js';
import type { Database } from '../storage/ports.js';
import { rekey, type Rekeyed } from '../vault/rekey.js';
import { readRootKey, RootKeyTrouble } from '../vault/root-key.js';
import { verify, type BrokenSecret, type Verified } from '../vault/verify.js';

async function withStore<T>(config: Config, work: (store: Database) => Promise<T>): Promise<T> {
  const store = await openDatabase(config.storage, { clock: systemClock });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function withKey<T>(place: VaultConfig, work: (root: Buffer) => Promise<T>): Promise<T> {
  const root = await readRootKey(place, systemClock);
  try {
    return await work(root);
  } finally {
    root.fill(0);
  }
}

/** Changes the root key. @throws {RootKeyTrouble} @throws {StorageAway} @throws {StorageRefused} */
export function rekeyStore(
  config: Config,
  { from, to }: { readonly from: VaultConfig; readonly to: VaultConfig },
): Promise<Rekeyed> {
  return withKey(from, (old) =>
    withKey(to, (next) =>
      withStore(config, ({ keys }) =>
        rekey(keys, { from: old, to: next }, `rekey ${randomUUID()}`, systemBytes),
      ),
    ),
  );
}

/** Opens every secret. @throws {RootKeyTrouble} @throws {StorageAway} @throws {StorageRefused} */
export async function verifyStore(config: Config, tell: (broken: BrokenSecret) => void): Promise<Verified> {
  const { vault } = config;
  if (vault === null) throw new RootKeyTrouble('the configuration names no root key (vault.key)');
  return withKey(vault, (root) => withStore(config, (store) => verify(store, root, tell)));
}

/** Writes a copy of a SQLite store; of another nothing: says which. @throws {StorageAway} @throws {StorageRefused} */
export function backupStore(config: Config, file: string): Promise<Database['engine']> {
  return withStore(config, async (store) => {
    if (store.engine === 'sqlite') await store.backup(file);
    return store.engine;
  });
}
