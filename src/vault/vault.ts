/**
 * The vault: seals secrets under the newest key of keys and opens them again. It is `sealed` while it has no keys: the root key
 * is wrong or can't be had, or the store is away. It keeps nothing but keys in memory, and never a secret that it opened.
 */
import type { KeyRow } from '../storage/ports.js';
import type { SealFault, SecretPlace } from './envelope.js';
import type { Rotation } from './rotation.js';

export type VaultState =
  | { readonly kind: 'open' }
  /** `why` is for people; `isStore`: nothing is wrong with the keys, the store can't be asked, and it is tried again by itself. */
  | { readonly kind: 'sealed'; readonly why: string; readonly isStore: boolean };

/** What `seal`, `reveal` and `subKey` throw while there are no keys. */
export class VaultSealed extends Error {
  override readonly name = 'VaultSealed';
}

/** What `reveal` throws where something does not open: it was changed, or is not where it belongs, or its key is gone. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';

  constructor(readonly why: SealFault) {
    super(`a sealed secret does not open: ${why}`);
  }
}

/** A key as people may see it. */
export type KeyView = Pick<KeyRow, 'id' | 'term' | 'state' | 'wraps' | 'createdMs'>;

/** The vault, as those use it who keep secrets. */
export interface Vault {
  readonly state: VaultState;
  /** Seals for a place. The caller wipes the plaintext. @throws {VaultSealed} @throws {StorageAway} where the keys may be out of date */
  seal(place: SecretPlace, plaintext: Buffer): { readonly kekId: string; readonly sealed: Buffer };
  /** The secret; the caller wipes it after use. @throws {VaultSealed} @throws {SealBroken} */
  reveal(place: SecretPlace, sealed: Buffer): Buffer;
  /** 32 bytes that are the same for the same label on every gateway and after every rotation. @throws {VaultSealed} */
  subKey(label: string): Buffer;
  /** All keys but the one that sub-keys come from, eldest first. */
  keys(): readonly KeyView[];
  /** Reads the keys anew: for whoever hears that one changed. Never rejects. */
  refresh(): Promise<void>;
  /** Asks for the root key again and tries to open. Never rejects; an open vault stays open. */
  unseal(): Promise<VaultState>;
  readonly rotation: Rotation;
  /** Tells the others that it leaves, and wipes the keys. */
  close(): Promise<void>;
}
