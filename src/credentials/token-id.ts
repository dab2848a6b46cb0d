/**
 * What a token looks like: `tpk_`, 32 random bytes, and a checksum, so that a slip is told from a token without asking the store
 * and programs that look for leaked secrets can know one. PURE but for the hash, whose key is an argument.
 */
import { createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'tpk_';
const RANDOM_BYTES = 32;
const SHAPE = /^tpk_[A-Za-z0-9_-]{49}$/;

/** A token of these bytes. */
export function tokenOf(random: Buffer): string {
  const body = random.toString('base64url');
  return `${PREFIX}${body}${checksum(body)}`;
}

/** How many random bytes it takes. */
export const TOKEN_BYTES = RANDOM_BYTES;

/** Whether it may be one. */
export function isToken(text: string): boolean {
  return SHAPE.test(text) && checksum(text.slice(PREFIX.length, -6)) === text.slice(-6);
}

/** What is kept of it: hex of a keyed hash. */
export function tokenHash(token: string, key: Buffer): string {
  return createHmac('sha256', key).update(token).digest('hex');
}

/** What people and the audit see of the hash. */
export function shortHash(hash: string): string {
  return hash.slice(0, 16);
}

function checksum(body: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64url');
}
