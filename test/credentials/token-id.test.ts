import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isToken, shortHash, TOKEN_BYTES, tokenHash, tokenOf } from '../../src/credentials/token-id.js';

const bytes = fc
  .uint8Array({ minLength: TOKEN_BYTES, maxLength: TOKEN_BYTES })
  .map((array) => Buffer.from(array));

describe('K4 a token', () => {
  it('is known as one, and no slip of it is', () => {
    const slip = fc.record({ at: fc.nat(52), to: fc.constantFrom(...'aZ09-_ .') });
    fc.assert(
      fc.property(bytes, slip, (random, { at, to }) => {
        const token = tokenOf(random);
        expect(token).toMatch(/^tpk_[A-Za-z0-9_-]{49}$/);
        expect(isToken(token)).toBe(true);
        const slipped = token.slice(0, at) + to + token.slice(at + 1);
        expect(isToken(slipped)).toBe(slipped === token);
        expect(isToken(token.slice(1))).toBe(false);
        expect(isToken(`${token}a`)).toBe(false);
      }),
    );
    expect(isToken('')).toBe(false);
  });

  it('is kept as a keyed hash', () => {
    const token = tokenOf(Buffer.alloc(TOKEN_BYTES, 1));
    const hash = tokenHash(token, Buffer.alloc(32, 2));
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(tokenHash(token, Buffer.alloc(32, 3))).not.toBe(hash);
    expect(shortHash(hash)).toBe(hash.slice(0, 16));
  });
});
