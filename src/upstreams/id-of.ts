/** How exits are named. */
import { hash } from 'node:crypto';

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_CHARS = 12;

/** An id from what makes an exit: 60 bits of SHA-256 in base32. At a million exits two fall together once in two million lists. */
export function idOf(identity: string, prefix = 'u-'): string {
  // As hex, since a string costs a third of what a buffer does.
  const digest = hash('sha256', identity, 'hex');
  let id = prefix;
  for (let i = 0; i < ID_CHARS; i++) {
    const bit = i * 5;
    const pair = (nibbleAt(digest, bit >> 2) << 4) | nibbleAt(digest, (bit >> 2) + 1);
    id += BASE32.charAt((pair >> (3 - (bit & 3))) & 31);
  }
  return id;
}

function nibbleAt(hex: string, place: number): number {
  const code = hex.charCodeAt(place);
  return code < 58 ? code - 48 : code - 87;
}
