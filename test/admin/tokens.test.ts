import { describe, expect, it } from 'vitest';
import { TokenBook } from '../../src/admin/tokens.js';
import { Secret } from '../../src/core/secret.js';

const token = 'a-token-of-some-length';
const book = new TokenBook([
  { name: 'first', token: new Secret('another-token-entirely'), scopes: ['read'] },
  { name: 'ops', token: new Secret(token), scopes: ['operator'] },
  { name: 'last', token: new Secret('tökén-with-umlauts'), scopes: ['admin'] },
]);

describe('Z07 tokens', () => {
  it('are found whole, whoever holds them, with the scheme in any case', () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER '])
      expect(book.holderOf(`${scheme} ${token}`)).toEqual({ name: 'ops', scopes: ['operator'] });
    const latin1 = Buffer.from('Bearer tökén-with-umlauts', 'utf8').toString('latin1');
    expect(book.holderOf(latin1)?.name).toBe('last');
  });

  it.each([
    ['none', undefined],
    ['an empty field', ''],
    ['no token', 'Bearer'],
    ['a blank', 'Bearer  '],
    ['one character', 'Bearer a'],
    ['one too few', `Bearer ${token.slice(0, -1)}`],
    ['one too many', `Bearer ${token}x`],
    ['the same length', `Bearer ${'x'.repeat(token.length)}`],
    ['64 KB', `Bearer ${'x'.repeat(65_536)}`],
    ['64 KB that begin well', `Bearer ${token}${'x'.repeat(65_536)}`],
    ['not ASCII', 'Bearer \u00e9\u00ff\u0001'],
    ['another scheme', `Basic ${token}`],
    ['no scheme', token],
    ['two', `Bearer ${token}, Bearer ${token}`],
  ])('that are wrong are nobody’s: %s', (_what, field) => {
    expect(book.holderOf(field)).toBeNull();
  });

  it('of an empty book are nobody’s either', () => {
    expect(new TokenBook([]).holderOf('Bearer ')).toBeNull();
    expect(new TokenBook([]).holderOf(`Bearer ${token}`)).toBeNull();
  });
});
