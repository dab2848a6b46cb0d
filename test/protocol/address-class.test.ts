import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../src/protocol/address.js';
import {
  classifyAddress,
  classOfAddress,
  classOfName,
  isLoopbackName,
} from '../../src/protocol/address-class.js';
import { forbiddenSpellings, openSpellings } from './spellings.js';

const seed = 20_240_602;
const isAscii = (text: string): boolean => /^[ -~]+$/.test(text);
const asciiRows = [...forbiddenSpellings, ...openSpellings].filter(([host]) => isAscii(host));

describe('classes', () => {
  it.each(asciiRows)('%s is %s', (host, addressClass) => {
    expect(classifyAddress(host)).toBe(addressClass);
  });

  it('never takes what it can not read for public', () => {
    for (const text of ['1.2.3.4.5', '256.1.1.1', '[::1', '[zz::]', '1:2', ':', '09.1.1.1']) {
      expect(classifyAddress(text)).toBe('reserved');
    }
  });

  it('sees through a zone id', () => {
    expect(classifyAddress('fe80::1%eth0')).toBe('link_local');
    expect(classifyAddress('::1%lo')).toBe('loopback');
  });

  it('takes the metadata address of Oracle and Alibaba for what the ranges say', () => {
    expect(classifyAddress('192.0.0.192')).toBe('reserved');
    expect(classifyAddress('100.100.100.200')).toBe('cgnat');
  });
});

describe('names', () => {
  it('knows the machine itself', () => {
    expect(['localhost', 'a.b.localhost', 'localhost4', 'ip6-loopback'].every(isLoopbackName)).toBe(true);
    expect(['localhost.test', 'xlocalhost', 'printer.local'].some(isLoopbackName)).toBe(false);
  });

  it('leaves ordinary names alone', () => {
    expect(classOfName('a.test')).toBe('name');
    expect(classOfName('x.internal')).toBe('special_name');
  });
});

describe('ipaddr.js as referee', () => {
  /** Where ours differs, and why: AS112 and AMT are global by IANA; Azure's platform address is public by number only. */
  const isDisputed = (text: string): boolean =>
    /^(192\.31\.196\.|192\.52\.193\.|192\.175\.48\.|168\.63\.129\.16$)/.test(text);

  it('agrees on which IPv4 addresses are public', () => {
    const nearEdges = fc
      .constantFrom(0, 10, 100, 127, 169, 172, 192, 198, 203, 224, 240, 255)
      .chain((first) => {
        return fc.nat(0xffffff).map((rest) => first * 0x1000000 + rest);
      });
    const property = fc.property(fc.oneof(fc.nat(0xffffffff), nearEdges), (value) => {
      const text = formatAddress({ version: 4, value });
      if (isDisputed(text)) return;
      const theirs = ipaddr.IPv4.parse(text).range() === 'unicast';
      expect([text, classOfAddress({ version: 4, value }) === 'public']).toEqual([text, theirs]);
    });
    fc.assert(property, { seed, numRuns: 10_000 });
  });

  it('is never more generous on IPv6, transition mechanisms aside', () => {
    const first = fc.oneof(
      fc.nat(0xffff),
      fc.constantFrom(0, 0x64, 0x100, 0x2001, 0x2002, 0x3fff, 0xfc00, 0xfe80, 0xff02),
    );
    const rest = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 7, maxLength: 7 });
    const property = fc.property(first, rest, (head, tail) => {
      const address = new ipaddr.IPv6([head, ...tail]);
      if (classOfAddress({ version: 6, groups: [head, ...tail] }) !== 'public') return;
      expect(['unicast', 'rfc6052', '6to4', 'teredo', 'ipv4Mapped']).toContain(address.range());
    });
    fc.assert(property, { seed, numRuns: 10_000 });
  });
});

describe('addresses inside addresses', () => {
  it('gives NAT64, 6to4, Teredo and mapped addresses the class of the IPv4 address they lead to', () => {
    const property = fc.property(fc.nat(0xffffffff), (value) => {
      const inner = classOfAddress({ version: 4, value });
      const [high, low] = [value >>> 16, value & 0xffff];
      const wrapped = {
        mapped: [0, 0, 0, 0, 0, 0xffff, high, low],
        nat64: [0x64, 0xff9b, 0, 0, 0, 0, high, low],
        sixToFour: [0x2002, high, low, 0, 0, 0, 0, 1],
        teredoServer: [0x2001, 0, high, low, 0, 0, 0xf7f7, 0xf7f7],
        teredoClient: [0x2001, 0, 0x808, 0x808, 0, 0, high ^ 0xffff, low ^ 0xffff],
      };
      for (const [kind, groups] of Object.entries(wrapped)) {
        expect([kind, classOfAddress({ version: 6, groups })]).toEqual([kind, inner]);
      }
    });
    fc.assert(property, { seed, numRuns: 2000 });
  });
});
