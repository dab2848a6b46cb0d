/** How exits are named. */
import { hash } from 'node:crypto';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_CHARS = 12;

/** An id from what makes an exit: 60 bits of SHA-256 in base32. At a million exits two fall together once in two million lists. */
export function idOf(identity: string): string {
  const digest = hash('sha256', identity, 'binary');
  let id = 'u-';
  for (let i = 0; i < ID_CHARS; i++) {
    const bit = i * 5;
    const pair = (digest.charCodeAt(bit >> 3) << 8) | digest.charCodeAt((bit >> 3) + 1);
    id += BASE32.charAt((pair >> (11 - (bit & 7))) & 31);
  }
  return id;
}
