/**
 * Another root key: the keys in the store are wrapped anew, in one transaction, with the value that the root key is checked by.
 * Keys and secrets themselves stay, so gateways that run go on; they need the new root key when they start, or when keys rotate.
 */
import type { KeyRecords, KeyRow } from '../storage/ports.js';
import { type Chance, checkValue, fitsCheck, unwrapKey, wrapKey } from './envelope.js';
import { CHECK } from './first-keys.js';
import { placeOfKey } from './held-keys.js';
import { ROOT_CLAIM } from './rotation.js';

export type Rekeyed =
  | { readonly kind: 'done'; readonly keys: number }
  /**
   * `empty`: there is no vault in the store; `wrong`: the old root key is another; `same`: the new one is the old one;
   * `damaged`: a key does not open; `busy`: a key is being made, or was changed meanwhile.
   */
  | { readonly kind: 'refused'; readonly why: 'empty' | 'wrong' | 'same' | 'damaged' | 'busy' };

const refused = (why: Extract<Rekeyed, { kind: 'refused' }>['why']): Rekeyed => ({ kind: 'refused', why });

/** Both root keys; the caller wipes them. */
export interface RootKeys {
  readonly from: Buffer;
  readonly to: Buffer;
}

/** Changes the root key. All of it is done or nothing. @throws {StorageAway} */
export async function rekey(
  keys: KeyRecords,
  roots: RootKeys,
  holder: string,
  chance: Chance,
): Promise<Rekeyed> {
  const check = await keys.value(CHECK);
  if (check === null) return refused('empty');
  if (roots.from.equals(roots.to)) return refused('same');
  if (!fitsCheck(roots.from, check)) return refused('wrong');
  // Who makes a key holds this, too: none is made under the old root key in between.
  if (!(await keys.claim(ROOT_CLAIM, holder, 30_000))) return refused('busy');
  const wraps = [];
  for (const row of await keys.all()) {
    if (row.wrapped === null) continue;
    const wrapped = wrappedAnew(row, row.wrapped, roots, chance);
    if (wrapped === null) return refused('damaged');
    wraps.push({ id: row.id, was: row.wrapped, wrapped });
  }
  const isDone = await keys.rewrap(wraps, new Map([[CHECK, checkValue(roots.to, chance)]]));
  return isDone ? { kind: 'done', keys: wraps.length } : refused('busy');
}

function wrappedAnew(row: KeyRow, wrapped: Buffer, { from, to }: RootKeys, chance: Chance): Buffer | null {
  const place = placeOfKey(row);
  const key = unwrapKey(from, place, wrapped);
  if (key === null) return null;
  const anew = wrapKey(to, place, key, chance);
  key.fill(0);
  return anew;
}
