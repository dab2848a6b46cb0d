import { describe, expect, it } from 'vitest';
import * as octets from '../../src/http1/octets.js';

const all = Array.from({ length: 256 }, (_, octet) => octet);
const matching = (pattern: RegExp): number[] =>
  all.filter((octet) => pattern.test(String.fromCharCode(octet)));
const inTable = (table: Uint8Array): number[] => all.filter((octet) => table[octet]);

describe('tables', () => {
  it('token characters (RFC 9110, 5.6.2)', () => {
    expect(inTable(octets.TOKEN)).toEqual(matching(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/));
    expect(all.filter((octet) => octets.TOKEN[octet] === 2)).toEqual(matching(/[A-Z]/));
  });

  it('field values (RFC 9110, 5.5)', () => {
    expect(inTable(octets.VALUE)).toEqual(matching(/[\t\x20-\x7e\x80-\xff]/));
  });

  it('targets', () => {
    expect(inTable(octets.TARGET)).toEqual(matching(/[\x21\x22\x24-\x7e\x80-\xff]/));
  });

  it('host names', () => {
    expect(inTable(octets.HOST_NAME)).toEqual(matching(/[-._0-9A-Za-z\x80-\xff]/));
  });

  it('hexadecimal digits', () => {
    const values = all.map((octet) => {
      const character = String.fromCharCode(octet);
      return /[0-9a-fA-F]/.test(character) ? parseInt(character, 16) : 255;
    });
    expect([...octets.HEX]).toEqual(values);
  });
});

describe('text', () => {
  it('loses blanks at its ends and nothing else', () => {
    expect(octets.withoutOws(' \t a b\t ')).toBe('a b');
    expect(octets.withoutOws(' \t ')).toBe('');
    expect(octets.withoutOws('\xa0a\x0b')).toBe('\xa0a\x0b');
  });

  it('is a token, or not', () => {
    expect(['a', 'GET', 'x-!'].every(octets.isToken)).toBe(true);
    expect(['', 'a b', 'a:', 'ä', 'Ā'].some(octets.isToken)).toBe(false);
  });

  it('becomes a target that keeps its line', () => {
    expect(octets.asTarget('/a?\xe4')).toBe('/a?\xe4');
    expect(octets.asTarget('/ \n\u{1f600}\ud800')).toBe('/%20%0A%F0%9F%98%80%EF%BF%BD');
  });
});
