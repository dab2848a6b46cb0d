import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHost, siteOf } from '../../src/protocol/host.js';

const bytes = (unicode: string): string => Buffer.from(unicode, 'utf8').toString('latin1');
const hostOf = (unicode: string): string => {
  const result = readHost(bytes(unicode));
  return result.kind === 'host' ? result.facts.host : `malformed: ${result.detail}`;
};

describe('canonical hosts', () => {
  it.each([
    ['a.test', 'a.test'],
    ['A.Test.', 'a.test'],
    ['under_score.a.test', 'under_score.a.test'],
    ['-a.test', '-a.test'],
    ['r3---sn-abc.test', 'r3---sn-abc.test'],
    ['_dmarc.a.test', '_dmarc.a.test'],
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['XN--MNCHEN-3YA.de', 'xn--mnchen-3ya.de'],
    ['日本語。jp', 'xn--wgv71a119e.jp'],
    ['faß.de', 'xn--fa-hia.de'],
    ['under_scöre.test', 'xn--under_scre-lcb.test'],
    ['0x7f.1', '127.0.0.1'],
    ['[::FFFF:1.2.3.4]', '1.2.3.4'],
    ['[2001:DB8::0001]', '2001:db8::1'],
    ['a', 'a'],
    [`${'a'.repeat(63)}.test`, `${'a'.repeat(63)}.test`],
    [`${'a.'.repeat(126)}a`, `${'a.'.repeat(126)}a`],
    [`${'a.'.repeat(126)}a.`, `${'a.'.repeat(126)}a`],
  ])('%s is %s', (written, host) => {
    expect(hostOf(written)).toBe(host);
  });
});

describe('C12 C13 impossible hosts', () => {
  it.each([
    ['', 'empty'],
    ['.', 'empty label'],
    ['a..test', 'empty label'],
    ['.a.test', 'empty label'],
    ['a.test..', 'empty label'],
    ['a。。test', 'empty label'],
    [`${'a'.repeat(64)}.test`, '63'],
    ['a'.repeat(300), '253'],
    ['a'.repeat(64), '63'],
    [`${'a.'.repeat(127)}a`, '253'],
    ['ü'.repeat(600), '253'],
    ['%7Bid%7D.a.test', 'character'],
    ['a%00.test', 'character'],
    ['a,b.test', 'character'],
    ['a b.test', 'character'],
    ['a\tb.test', 'character'],
    ['a/b', 'character'],
    ['a\\b', 'character'],
    ['a@b', 'character'],
    ['a:b', 'character'],
    ['{a}.test', 'character'],
    ['é/x', 'character'],
    ['é\\x', 'character'],
    ['é?x', 'character'],
    ['é\tx', 'character'],
    ['é%41', 'character'],
    ['a／b', 'international'],
    ['a％41', 'international'],
    ['a＠b', 'international'],
    ['xn--a', 'international'],
    ['a\u200db.test', 'international'],
    ['1.2.3.4.5', 'number'],
    ['256.256.256.256', 'number'],
    ['[::1', 'bracket'],
    ['[fe80::1%25eth0]', 'zone'],
    ['[fe80::1%eth0]', 'zone'],
    ['[v1.x]', 'brackets'],
    ['[127.0.0.1]', 'brackets'],
    ['[]', 'brackets'],
    ['[::1]x', 'bracket'],
    ['::1', 'character'],
  ])('%j is refused: %s', (written, why) => {
    expect(hostOf(written)).toContain('malformed');
    expect(hostOf(written)).toContain(why);
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(readHost('a\xff.test')).toMatchObject({
      kind: 'malformed',
      detail: 'The host is not valid UTF-8.',
    });
  });

  it('never throws, and what it gives is canonical', () => {
    const char = fc.constantFrom(...'aA0.-_%[]:@/xn\xc3\xbc\xe3\x80\x82\xff ', '127', '0x');
    const property = fc.property(
      fc.oneof(
        fc.string(),
        fc.array(char).map((parts) => parts.join('')),
      ),
      (text) => {
        const result = readHost(text);
        if (result.kind === 'malformed') return;
        const { host, inAuthority } = result.facts;
        expect(host).toMatch(/^[a-z0-9._:-]{1,253}$/);
        expect(readHost(inAuthority)).toEqual(result);
      },
    );
    fc.assert(property, { seed: 20_240_603, numRuns: 5000 });
  });
});

describe('sites', () => {
  it.each([
    ['www.shop.example', 'shop.example'],
    ['a.b.co.uk', 'b.co.uk'],
    ['co.uk', 'co.uk'],
    ['me.github.io', 'me.github.io'],
    ['a.me.github.io', 'me.github.io'],
    ['localhost', 'localhost'],
    ['under_score.a.test', 'a.test'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ])('%s belongs to %s', (host, site) => {
    expect(siteOf(host)).toBe(site);
  });

  it('is the address itself for addresses', () => {
    expect(readHost('127.1')).toMatchObject({ facts: { site: '127.0.0.1', inAuthority: '127.0.0.1' } });
    expect(readHost('[::2]')).toMatchObject({ facts: { site: '::2', inAuthority: '[::2]' } });
  });
});
