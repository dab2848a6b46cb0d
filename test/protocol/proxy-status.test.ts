import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { errorTable } from '../../src/core/errors.js';
import { proxyStatusField } from '../../src/protocol/proxy-status.js';

describe('Proxy-Status (RFC 9209)', () => {
  it('writes what is known', () => {
    const field = proxyStatusField({
      gateway: 'turnpike',
      error: 'dns_error',
      nextHop: 'x1f',
      receivedStatus: 502,
      details: 'no such name',
    });
    expect(field).toBe(
      'turnpike; error=dns_error; next-hop=x1f; received-status=502; details="no such name"',
    );
  });

  it('leaves out what is not', () => {
    expect(proxyStatusField({ gateway: 'turnpike' })).toBe('turnpike');
    const nothing = { error: null, nextHop: null, receivedStatus: null, details: null };
    expect(proxyStatusField({ gateway: 'turnpike', ...nothing })).toBe('turnpike');
    const missing = { error: undefined, nextHop: undefined, receivedStatus: undefined, details: undefined };
    expect(proxyStatusField({ gateway: 'turnpike', ...missing })).toBe('turnpike');
    expect(proxyStatusField({ gateway: 'turnpike', error: 'no token', receivedStatus: 1.5 })).toBe(
      'turnpike',
    );
  });

  it('makes strings of what is no token', () => {
    expect(proxyStatusField({ gateway: 'gate 1', nextHop: '1.2.3.4' })).toBe('"gate 1"; next-hop="1.2.3.4"');
  });

  it('escapes quotes and backslashes, and lets no other byte through', () => {
    const field = proxyStatusField({ gateway: 'g', details: 'a"b\\c\r\nX: ü' });
    expect(field).toBe('g; details="a\\"b\\\\c??X: ?"');
  });

  it('is bounded and always one well-formed line', () => {
    const property = fc.property(fc.string(), fc.string({ maxLength: 2000 }), (gateway, details) => {
      const field = proxyStatusField({ gateway, details, nextHop: gateway, error: details });
      expect(field).toMatch(/^[\x20-\x7e]+$/);
      expect(field.length).toBeLessThan(8000);
      expect(field).toMatch(/; details="(?:[^"\\]|\\["\\])*"$/);
    });
    fc.assert(property, { seed: 20_240_604, numRuns: 1000 });
  });

  it('takes every error type of the table as a token', () => {
    for (const { proxyStatus } of Object.values(errorTable)) {
      expect(proxyStatusField({ gateway: 'g', error: proxyStatus })).toBe(`g; error=${proxyStatus}`);
    }
  });
});
