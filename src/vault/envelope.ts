/**
 * The sealed form of a secret, and what it is bound to. PURE: keys and chance are arguments, and it never knows where they
 * come from or where the result is kept.
 *
 *     magic "TPSV" | format | algorithm | key of keys (16) | record key, wrapped (60) | secret, sealed (28 + its length)
 *
 * Each version of each record has a key of its own, so that key encrypts once; the key of keys wraps it. Both are bound to the
 * record's place, and the wrap to the key of keys, too, so a secret opens nowhere but where it was put: not in another row, not
 * in another column, not as an older version. (The secret itself is not bound to the key of keys: rewrapping leaves it alone.)
 * All numbers are big-endian.
 */
import { AEAD_BYTES, aeadOpen, aeadSeal, KEY_BYTES, NONCE_BYTES } from '../core/aead.js';

/** Where a secret belongs. */
export interface SecretPlace {
  readonly type: 'credential';
  /** Of the record; never used again for another. */
  readonly id: string;
  readonly column: 'secret';
  /** Version of the secret, from 1. */
  readonly version: number;
}

/** The place of a credential's secret. */
export const placeOfSecret = (id: string, version: number): SecretPlace => ({
  ...{ type: 'credential', id },
  ...{ column: 'secret', version },
});

/** A key of keys that can be used. */
export interface Kek {
  /** Hex of 16 bytes. */
  readonly id: string;
  readonly key: Buffer;
}

/** Gives unpredictable bytes. */
export type Chance = (count: number) => Buffer;

/** Why something sealed can't be opened. */
export type SealFault =
  /** It is not of our making, or cut short. */
  | 'not_sealed'
  | 'unknown_format'
  | 'unknown_algorithm'
  /** The key of keys that it names is not there. */
  | 'unknown_key'
  /** It was changed, or is not where it belongs, or the key is another. */
  | 'not_authentic';

export type Opened =
  | { readonly kind: 'opened'; readonly plaintext: Buffer }
  | { readonly kind: 'broken'; readonly why: SealFault };

export type Rewrapped =
  | { readonly kind: 'rewrapped'; readonly sealed: Buffer }
  | { readonly kind: 'broken'; readonly why: SealFault };

const magic = Buffer.from('TPSV', 'latin1');
const FORMAT = 1;
const AES_256_GCM = 1;
const ID_BYTES = 16;
const ID_AT = magic.length + 2;
const WRAP_AT = ID_AT + ID_BYTES;
const SECRET_AT = WRAP_AT + KEY_BYTES + AEAD_BYTES;
/** What sealing adds to a secret. */
export const ENVELOPE_BYTES = SECRET_AT + AEAD_BYTES;

/** There is one tenant today; sealing names it, so that what comes later can't be mixed up with what is there. */
const tenant = 'default';

/** Parts with their lengths before them: no two lists of parts give the same bytes. */
function canonical(parts: readonly (string | number)[]): Buffer {
  const encoded = parts.flatMap((part) => {
    const bytes = Buffer.from(String(part), 'utf8');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return [length, bytes];
  });
  return Buffer.concat(encoded);
}

function header(kekId: string): Buffer {
  const id = Buffer.from(kekId, 'hex');
  if (id.length !== ID_BYTES) throw new RangeError('the id of a key has 16 bytes');
  return Buffer.concat([magic, Buffer.of(FORMAT, AES_256_GCM), id]);
}

const placeOf = ({ type, id, column, version }: SecretPlace): readonly (string | number)[] => [
  ...[tenant, type, id, column, version],
];
const boundSecret = (place: SecretPlace): Buffer =>
  canonical(['secret', FORMAT, AES_256_GCM, ...placeOf(place)]);
const boundWrap = (place: SecretPlace, kekId: string): Buffer =>
  canonical(['record key', FORMAT, AES_256_GCM, ...placeOf(place), kekId]);

/** Seals a secret under a fresh key. The caller wipes the plaintext. */
export function seal(place: SecretPlace, plaintext: Buffer, kek: Kek, chance: Chance): Buffer {
  const recordKey = chance(KEY_BYTES);
  const wrap = aeadSeal(kek.key, chance(NONCE_BYTES), recordKey, boundWrap(place, kek.id));
  const secret = aeadSeal(recordKey, chance(NONCE_BYTES), plaintext, boundSecret(place));
  recordKey.fill(0);
  return Buffer.concat([header(kek.id), wrap, secret]);
}

/** The id of the key of keys that something is sealed under, or why it can't be opened by any. */
export function kekIdOf(sealed: Buffer): { readonly id: string } | { readonly why: SealFault } {
  if (sealed.length < ENVELOPE_BYTES || !sealed.subarray(0, magic.length).equals(magic))
    return { why: 'not_sealed' };
  if (sealed[magic.length] !== FORMAT) return { why: 'unknown_format' };
  if (sealed[magic.length + 1] !== AES_256_GCM) return { why: 'unknown_algorithm' };
  return { id: sealed.toString('hex', ID_AT, WRAP_AT) };
}

function recordKeyOf(place: SecretPlace, sealed: Buffer, kek: Kek): Buffer | SealFault {
  const named = kekIdOf(sealed);
  if ('why' in named) return named.why;
  if (named.id !== kek.id) return 'unknown_key';
  const wrap = sealed.subarray(WRAP_AT, SECRET_AT);
  return aeadOpen(kek.key, wrap, boundWrap(place, kek.id)) ?? 'not_authentic';
}

/** Opens a secret; the caller wipes it after use. */
export function open(place: SecretPlace, sealed: Buffer, kek: Kek): Opened {
  const recordKey = recordKeyOf(place, sealed, kek);
  if (!Buffer.isBuffer(recordKey)) return { kind: 'broken', why: recordKey };
  const plaintext = aeadOpen(recordKey, sealed.subarray(SECRET_AT), boundSecret(place));
  recordKey.fill(0);
  return plaintext === null ? { kind: 'broken', why: 'not_authentic' } : { kind: 'opened', plaintext };
}

/** Puts the record's key under another key of keys; the sealed secret stays, byte for byte. */
export function rewrap(
  place: SecretPlace,
  sealed: Buffer,
  keks: { readonly from: Kek; readonly to: Kek },
  chance: Chance,
): Rewrapped {
  const { from, to } = keks;
  const recordKey = recordKeyOf(place, sealed, from);
  if (!Buffer.isBuffer(recordKey)) return { kind: 'broken', why: recordKey };
  const wrap = aeadSeal(to.key, chance(NONCE_BYTES), recordKey, boundWrap(place, to.id));
  recordKey.fill(0);
  return {
    kind: 'rewrapped',
    sealed: Buffer.concat([header(to.id), wrap, sealed.subarray(SECRET_AT)]),
  };
}

/** Opens a secret and seals it anew, under a fresh record key: for when the old key may be known to others. */
export function reencrypt(
  place: SecretPlace,
  sealed: Buffer,
  keks: { readonly from: Kek; readonly to: Kek },
  chance: Chance,
): Rewrapped {
  const opened = open(place, sealed, keks.from);
  if (opened.kind === 'broken') return opened;
  const anew = seal(place, opened.plaintext, keks.to, chance);
  opened.plaintext.fill(0);
  return { kind: 'rewrapped', sealed: anew };
}

/** What a key that the root key wraps is for: it can't be taken for another. */
export interface KeyPlace {
  readonly id: string;
  readonly term: number;
  /** `derive`: sub-keys come from it; `wrap`: it wraps the keys of records. */
  readonly use: 'derive' | 'wrap';
}

const boundKey = ({ id, term, use }: KeyPlace): Buffer =>
  canonical(['key', FORMAT, AES_256_GCM, tenant, use, id, term]);

/** Wraps a key under the root key. */
export function wrapKey(root: Buffer, place: KeyPlace, key: Buffer, chance: Chance): Buffer {
  return Buffer.concat([
    Buffer.of(FORMAT, AES_256_GCM),
    aeadSeal(root, chance(NONCE_BYTES), key, boundKey(place)),
  ]);
}

/** Null where root key, place or bytes are not the same. */
export function unwrapKey(root: Buffer, place: KeyPlace, wrapped: Buffer): Buffer | null {
  if (wrapped[0] !== FORMAT || wrapped[1] !== AES_256_GCM) return null;
  const key = aeadOpen(root, wrapped.subarray(2), boundKey(place));
  return key?.length === KEY_BYTES ? key : null;
}

const checkText = 'turnpike vault';
const boundCheck = canonical(['check', FORMAT, AES_256_GCM, tenant]);

/** A value that only this root key opens: it tells a wrong key from a damaged one. */
export function checkValue(root: Buffer, chance: Chance): Buffer {
  return aeadSeal(root, chance(NONCE_BYTES), Buffer.from(checkText, 'latin1'), boundCheck);
}

/** Whether the check value was made with this root key. */
export function fitsCheck(root: Buffer, value: Buffer): boolean {
  return aeadOpen(root, value, boundCheck)?.toString('latin1') === checkText;
}
