/**
 * Keys that others come from, one for each purpose: the same for the same label on every gateway and after every rotation.
 * Also without a gateway, for whoever verifies what was kept.
 */
import { hkdfSync } from 'node:crypto';
import { KEY_BYTES } from '../core/aead.js';
import type { KeyRecords } from '../storage/ports.js';
import { fitsCheck } from './envelope.js';
import { CHECK } from './first-keys.js';
import { HeldKeys } from './held-keys.js';

/** The key of a purpose. */
export function subKeyFrom(derive: Buffer, label: string): Buffer {
  return Buffer.from(hkdfSync('sha256', derive, 'turnpike vault', label, KEY_BYTES));
}

export type FoundSubKey =
  | { readonly kind: 'key'; readonly key: Buffer }
  /** No vault was made in this store; the root key is another's; the key that others come from is gone. */
  | { readonly kind: 'no_vault' | 'wrong_key' | 'damaged' };

/** The same from a store and its root key, where no gateway runs. @throws {StorageAway} */
export async function subKeyIn(keys: KeyRecords, root: Buffer, label: string): Promise<FoundSubKey> {
  const check = await keys.value(CHECK);
  if (check === null) return { kind: 'no_vault' };
  if (!fitsCheck(root, check)) return { kind: 'wrong_key' };
  const held = new HeldKeys();
  held.take(await keys.all(), root);
  const derive = held.derive();
  const found: FoundSubKey =
    derive === null ? { kind: 'damaged' } : { kind: 'key', key: subKeyFrom(derive, label) };
  held.wipe();
  return found;
}
