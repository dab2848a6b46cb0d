/**
 * The little language between load generator and scripted upstream: which bytes a path stands for.
 *
 *   GET /SIZE[.html]?n=ID[&close]   SIZE bytes of pattern; the answer carries `X-Bench-Id: ID`; `close` ends the connection after it
 *   in a tunnel: BULK SIZE\n        SIZE bytes of pattern
 *   in a tunnel: any other line     the same line back
 */

/** The target the load generator names. Nothing listens there: only the upstream proxy can answer for it. */
export const TARGET = '127.0.0.1:8000';

/** Login of a gateway at the upstream, and of a client at a gateway. */
export const UPSTREAM_LOGIN = 'up:secret';
export const CLIENT_LOGIN = 'bench:bench-password';

export const BULK_COMMAND = 'BULK ';
export const PATTERN_BYTES = 65_536;

/** Printable and aperiodic within its 64 KiB, so that a lost, doubled or shifted byte is seen. Repeats after that. */
export const PATTERN = makePattern();

/** Value of a Basic authorization field for `name:password`. */
export function basic(login: string): string {
  return `Basic ${Buffer.from(login).toString('base64')}`;
}

/** True when `chunk` is what a message of pattern has from byte `offset` on. */
export function matchesPattern(chunk: Buffer, offset: number): boolean {
  let at = 0;
  while (at < chunk.length) {
    const from = (offset + at) % PATTERN_BYTES;
    const length = Math.min(PATTERN_BYTES - from, chunk.length - at);
    if (PATTERN.compare(chunk, at, at + length, from, from + length) !== 0) return false;
    at += length;
  }
  return true;
}

function makePattern(): Buffer {
  const pattern = Buffer.alloc(PATTERN_BYTES);
  let state = 0x2545f491;
  for (let at = 0; at < PATTERN_BYTES; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    pattern[at] = at % 80 === 79 ? 10 : 97 + ((state >>> 24) % 26);
  }
  pattern.write('<!doctype html><html><head><title>a page</title></head><body><p>', 0, 'latin1');
  return pattern;
}
