import fc from 'fast-check';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import {
  cidrContains,
  formatAddress,
  parseAddress,
  parseCidr,
  readDotted,
  readIpv4Spelling,
  readIpv6,
  unmapped,
} from '../../src/protocol/address.js';
import type { Address } from '../../src/protocol/address.js';

const seed = 20_240_601;
const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });

describe('IPv4 spellings', () => {
  it.each([
    ['127.0.0.1', 0x7f000001],
    ['127.1', 0x7f000001],
    ['0x7f.1', 0x7f000001],
    ['0177.0.1', 0x7f000001],
    ['4294967295', 0xffffffff],
    ['0', 0],
    ['0x', 0],
    ['1.2.3', 0x01020003],
    ['1.0xffffff', 0x01ffffff],
  ])('%s is read as inet_aton reads it', (text, value) => {
    expect(readIpv4Spelling(text)).toBe(value);
  });

  it.each(['a.test', 'x', '1e100.net', '1.2.3.4.example', '0x7f.example', '0xg', 'a-1'])(
    '%s is a name',
    (text) => {
      expect(readIpv4Spelling(text)).toBe('name');
    },
  );

  it.each([
    '1.2.3.4.5',
    '256.1.1.1',
    '1.256.1.1',
    '1.2.65536',
    '1.16777216',
    '4294967296',
    '99999999999999999999999',
    '09',
    '08.1.1.1',
    '0x7g.1',
    'foo.1',
    'foo.0x7f',
    '1..2',
    '.1',
    `0x${'f'.repeat(300)}`,
  ])('%s ends in a number and is no address', (text) => {
    expect(readIpv4Spelling(text)).toBe('malformed');
  });

  it('agrees with the WHATWG URL standard on random number soup', () => {
    const part = fc.oneof(
      fc.nat(300).map(String),
      fc.nat(0xffffffff).map(String),
      fc.nat(0xffff).map((n) => `0x${n.toString(16)}`),
      fc.nat(0xffff).map((n) => `0${n.toString(8)}`),
      fc.constantFrom('', '0x', '08', 'a', '00'),
    );
    const property = fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
      const text = parts.join('.');
      if (text === '' || text.endsWith('.')) return;
      const ours = readIpv4Spelling(text);
      const url = URL.canParse(`http://${text}/`) ? new URL(`http://${text}/`).hostname : null;
      if (typeof ours === 'number') expect(url).toBe(formatAddress({ version: 4, value: ours }));
      else if (ours === 'malformed') expect(url).toBeNull();
      else expect(url).toBe(text);
    });
    fc.assert(property, { seed, numRuns: 3000 });
  });
});

describe('dotted decimal', () => {
  it.each(['1.2.3', '01.2.3.4', '1.2.3.256', '1.2.3.4.', '0x1.2.3.4', '', '1.2.3.4.5', '1.2.3.999'])(
    '%j is not strict dotted decimal',
    (text) => {
      expect(readDotted(text)).toBeNull();
    },
  );
});

describe('IPv6 text', () => {
  it.each([
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
    ['::1.2.3.4', '::102:304'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ])('%s becomes %s (RFC 5952)', (text, canonical) => {
    const address = readIpv6(text);
    expect(address && formatAddress(address)).toBe(canonical);
  });

  it.each([
    '',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8::',
    '12345::',
    'g::',
    '::1%eth0',
    '1.2.3.4',
    '1.2.3.4::',
    '::1.2.3',
    '::01.2.3.4',
    '::1.2.3.4:5',
    ':1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:',
    '0'.repeat(50),
  ])('%j is none', (text) => {
    expect(readIpv6(text)).toBeNull();
  });

  it('agrees with Node on what is IPv6 for random text', () => {
    const piece = fc.constantFrom(':', '::', '0', '1', 'ffff', 'abcd', '12345', '1.2.3.4', '.', 'g');
    const property = fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const text = pieces.join('');
      expect(readIpv6(text) !== null).toBe(isIP(text) === 6);
    });
    fc.assert(property, { seed, numRuns: 5000 });
  });

  it('reads back what it writes, and what ipaddr.js writes', () => {
    const property = fc.property(groups, (parts) => {
      const address: Address = { version: 6, groups: parts };
      expect(readIpv6(formatAddress(address))).toEqual(address);
      const theirs = new ipaddr.IPv6([...parts]);
      expect(readIpv6(theirs.toNormalizedString())).toEqual(address);
      expect(formatAddress(address)).toBe(theirs.toRFC5952String());
    });
    fc.assert(property, { seed, numRuns: 2000 });
  });
});

describe('addresses of sockets and configuration', () => {
  it('unmaps IPv4 and ignores a zone id', () => {
    expect(parseAddress('::ffff:127.0.0.1')).toEqual({ version: 4, value: 0x7f000001 });
    expect(parseAddress('fe80::1%eth0')).toEqual(readIpv6('fe80::1'));
    expect(parseAddress('127.1')).toBeNull();
    expect(parseAddress('127.0.0.1%lo')).toBeNull();
    expect(parseAddress('a.test')).toBeNull();
  });

  it('leaves other addresses as they are', () => {
    const address = readIpv6('1:2:3:4:5:ffff:7:8');
    expect(address && unmapped(address)).toBe(address);
    expect(unmapped({ version: 4, value: 1 })).toEqual({ version: 4, value: 1 });
  });
});

describe('ranges', () => {
  const contains = (range: string, text: string): boolean => {
    const [cidr, address] = [parseCidr(range), parseAddress(text)];
    if (cidr === null || address === null) throw new Error('the test is wrong');
    return cidrContains(cidr, address);
  };

  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.1.2.3/8', '10.9.9.9', true],
    ['0.0.0.0/0', '255.255.255.255', true],
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['127.0.0.1/31', '127.0.0.0', true],
    ['fd00::/8', 'fdff::1', true],
    ['fd00::/8', 'fe00::1', false],
    ['2001:db8::/33', '2001:db8:7fff::', true],
    ['2001:db8::/33', '2001:db8:8000::', false],
    ['::/0', 'ffff::', true],
    ['::1', '::1', true],
    ['::/127', '::2', false],
    ['::/0', '1.2.3.4', false],
    ['0.0.0.0/0', '::1', false],
    ['127.0.0.0/8', '::ffff:127.0.0.1', true],
  ])('%s and %s: %s', (range, text, expected) => {
    expect(contains(range, text)).toBe(expected);
  });

  it.each([
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/',
    '10.0.0.0/08',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    'x/8',
    'fe80::1%1/64',
    '',
  ])('%j is none', (text) => {
    expect(parseCidr(text)).toBeNull();
  });

  it('agrees with ipaddr.js on random ranges', () => {
    const property = fc.property(fc.nat(0xffffffff), fc.nat(0xffffffff), fc.nat(32), (a, b, bits) => {
      const [base, address] = [a, b].map((value) => formatAddress({ version: 4, value })) as [string, string];
      const expected = ipaddr.IPv4.parse(address).match(ipaddr.IPv4.parse(base), bits);
      expect(contains(`${base}/${bits}`, address)).toBe(expected);
    });
    fc.assert(property, { seed, numRuns: 1000 });
    const six = fc.property(groups, groups, fc.nat(128), (a, b, bits) => {
      const expected = new ipaddr.IPv6([...b]).match(new ipaddr.IPv6([...a]), bits);
      const cidr = { base: { version: 6 as const, groups: a }, bits };
      expect(cidrContains(cidr, { version: 6, groups: b })).toBe(expected);
    });
    fc.assert(six, { seed, numRuns: 1000 });
  });
});
