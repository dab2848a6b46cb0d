/**
 * What a store needs before a vault opens on it: a name, a value that only its root key opens, the key of sub-keys, the first
 * key of keys. Each is made where it lacks and nowhere else, in an order in which several processes may do it at once and any
 * may die: ids come from the vault's name and the term, so the second to make a key finds that it is there.
 */
import { createHash } from 'node:crypto';
import { KEY_BYTES } from '../core/aead.js';
import type { Database, KeyRecords, KeyRow } from '../storage/ports.js';
import { type Chance, checkValue, fitsCheck, wrapKey } from './envelope.js';
import { placeOfKey } from './held-keys.js';
import { nextTerm } from './keyring.js';

export const CHECK = 'check';
const NAME = 'name';

/** Whether a root key is this vault's. */
export type RootFits = 'fits' | 'wrong' | 'check_lost';

/** Compares a root key with the check value; makes that where nothing was kept yet: no key and no secret. @throws {StorageAway} */
export async function fitsVault(
  { keys, credentials }: Pick<Database, 'keys' | 'credentials'>,
  root: Buffer,
  chance: Chance,
): Promise<RootFits> {
  let check = await keys.value(CHECK);
  if (check === null) {
    const isUsed =
      (await keys.all()).length > 0 || (await credentials.list({ after: null, limit: 1 })).length > 0;
    if (isUsed) return 'check_lost';
    check = await keys.setValue(CHECK, checkValue(root, chance));
  }
  return fitsCheck(root, check) ? 'fits' : 'wrong';
}

/** Makes a key that isn't there yet. `exists`: somebody else made it. @throws {StorageAway} */
export async function makeKey(
  keys: KeyRecords,
  root: Buffer,
  key: Pick<KeyRow, 'id' | 'term' | 'state'>,
  chance: Chance,
): Promise<'inserted' | 'exists'> {
  const bytes = chance(KEY_BYTES);
  const wrapped = wrapKey(root, placeOfKey(key), bytes, chance);
  bytes.fill(0);
  return keys.insert({ ...key, wrapped });
}

/** The id of the key of a term: everybody finds the same. */
export async function keyId(keys: KeyRecords, term: number, chance: Chance): Promise<string> {
  const name = (await keys.value(NAME)) ?? (await keys.setValue(NAME, chance(16)));
  return createHash('sha256').update(name).update(`key ${term}`).digest('hex').slice(0, 32);
}

/** Makes the first keys where there are none. @throws {StorageAway} */
export async function makeFirstKeys(keys: KeyRecords, root: Buffer, chance: Chance): Promise<void> {
  let rows = await keys.all();
  for (const state of ['derive', 'primary'] as const) {
    const isThere = rows.some((row) => (row.state === 'derive') === (state === 'derive'));
    if (isThere) continue;
    const term = nextTerm(rows);
    await makeKey(keys, root, { id: await keyId(keys, term, chance), term, state }, chance);
    rows = await keys.all();
  }
}
