import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatAddress } from '../../src/protocol/address.js';
import { classOfAddress } from '../../src/protocol/address-class.js';
import { parseAbsoluteForm, parseAuthority } from '../../src/protocol/target.js';
import type { Target, TargetResult } from '../../src/protocol/target.js';
import { forbiddenSpellings, openSpellings } from './spellings.js';

const bytes = (unicode: string): string => Buffer.from(unicode, 'utf8').toString('latin1');

function targetOf(result: TargetResult): Target {
  if (result.kind === 'refused') throw new Error(result.failure.detail);
  return result.target;
}

describe('spellings of one address', () => {
  it.each([...forbiddenSpellings, ...openSpellings])('%s is %s in both forms', (host, addressClass) => {
    expect(targetOf(parseAbsoluteForm(bytes(`http://${host}/`))).addressClass).toBe(addressClass);
    expect(targetOf(parseAbsoluteForm(bytes(`http://${host}:8080/x`))).addressClass).toBe(addressClass);
    expect(targetOf(parseAuthority(bytes(`${host}:443`))).addressClass).toBe(addressClass);
  });

  const hex = (n: number): string => `0x${n.toString(16)}`;
  const octal = (n: number): string => `0${n.toString(8)}`;
  const spellings = (value: number, pick: readonly number[]): string[] => {
    const part = (n: number, i: number): string => [String, hex, octal][(pick[i] ?? 0) % 3]?.(n) ?? '';
    const [a, b, c, d] = [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
    const dotted = formatAddress({ version: 4, value });
    const fullWidth = dotted.replace(/[0-9.]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0));
    return [
      [a, b, c, d].map(part).join('.'),
      [a, b, value & 0xffff].map(part).join('.'),
      [a, value & 0xffffff].map(part).join('.'),
      part(value, 3),
      `${dotted}.`,
      fullWidth,
      dotted.replaceAll('.', '。'),
      hex(value).toUpperCase(),
      `[::ffff:${dotted}]`,
      `[0:0:0:0:0:FFFF:${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}]`,
    ];
  };

  it('SSRF: the verdict on any spelling is the verdict on the binary IPv4 address', () => {
    const picks = fc.array(fc.nat(2), { minLength: 4, maxLength: 4 });
    const special = fc.constantFrom(
      0,
      0x0a000001,
      0x7f000001,
      0xa9fea9fe,
      0xac100001,
      0xc0a80101,
      0x64646464,
      0xffffffff,
    );
    const property = fc.property(fc.oneof(fc.nat(0xffffffff), special), picks, (value, pick) => {
      const expected = {
        host: formatAddress({ version: 4, value }),
        addressClass: classOfAddress({ version: 4, value }),
      };
      for (const spelling of spellings(value, pick)) {
        expect(targetOf(parseAbsoluteForm(bytes(`http://${spelling}/`)))).toMatchObject(expected);
        expect(targetOf(parseAuthority(bytes(`${spelling}:1`)))).toMatchObject(expected);
      }
    });
    fc.assert(property, { seed: 20_240_605, numRuns: 1500 });
  });

  it('SSRF: and of any IPv6 spelling that on its eight groups', () => {
    const group = fc.oneof(fc.constant(0), fc.nat(0xffff));
    const head = fc.constantFrom(0, 0x64, 0x2001, 0x2002, 0x2606, 0xfc00, 0xfe80, 0xff02);
    const property = fc.property(head, fc.array(group, { minLength: 7, maxLength: 7 }), (first, rest) => {
      const groups = [first, ...rest];
      const addressClass = classOfAddress({ version: 6, groups });
      const long = groups.map((each) => each.toString(16).padStart(4, '0').toUpperCase()).join(':');
      const short = formatAddress({ version: 6, groups });
      const tail = formatAddress({ version: 4, value: (groups[6] ?? 0) * 0x10000 + (groups[7] ?? 0) });
      const mixed = [...groups.slice(0, 6).map((each) => each.toString(16)), tail].join(':');
      for (const text of [long, short, mixed]) {
        expect(targetOf(parseAuthority(`[${text}]:443`)).addressClass).toBe(addressClass);
      }
      const hosts = [long, short, mixed].map((text) => targetOf(parseAuthority(`[${text}]:443`)).host);
      expect(new Set(hosts).size).toBe(1);
    });
    fc.assert(property, { seed: 20_240_606, numRuns: 1500 });
  });
});
