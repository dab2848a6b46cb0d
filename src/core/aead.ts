/**
 * AES-256-GCM as all of Turnpike uses it: 12 bytes of nonce, 16 of tag, never shorter. The only file that touches Node's
 * ciphers (a lint rule says so), since that is where small mistakes are grave. What is sealed, and to what it is bound, is the
 * caller's business.
 */
import { createCipheriv, createDecipheriv } from 'node:crypto';

export const KEY_BYTES = 32;
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
/** What sealing adds to a text. */
export const AEAD_BYTES = NONCE_BYTES + TAG_BYTES;

const algorithm = 'aes-256-gcm';
const options = { authTagLength: TAG_BYTES };

/**
 * Seals: `nonce | ciphertext | tag`.
 * @param nonce 12 bytes that this key has never seen
 * @param bound what opening must name again, byte for byte
 */
export function aeadSeal(key: Buffer, nonce: Buffer, plaintext: Buffer, bound: Buffer): Buffer {
  if (key.length !== KEY_BYTES || nonce.length !== NONCE_BYTES)
    throw new RangeError('a key has 32 bytes, a nonce 12');
  const cipher = createCipheriv(algorithm, key, nonce, options);
  cipher.setAAD(bound);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Opens what {@link aeadSeal} made; null where key, bytes or binding are not the same. Nothing of a forged text gets out. */
export function aeadOpen(key: Buffer, sealed: Buffer, bound: Buffer): Buffer | null {
  if (key.length !== KEY_BYTES || sealed.length < AEAD_BYTES) return null;
  const decipher = createDecipheriv(algorithm, key, sealed.subarray(0, NONCE_BYTES), options);
  decipher.setAAD(bound);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
  const plaintext = decipher.update(sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES));
  try {
    decipher.final();
    return plaintext;
  } catch {
    plaintext.fill(0);
    return null;
  }
}
