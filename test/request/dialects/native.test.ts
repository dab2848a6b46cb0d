import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { usernameKeys } from '../../../src/request/dialects/dialect.js';
import type { UsernameResult } from '../../../src/request/dialects/dialect.js';
import { nativeDialect, parseNativeUsername } from '../../../src/request/dialects/native.js';

function partsOf(result: UsernameResult): [name: string, params: Record<string, string>] {
  if (result.kind === 'refused') throw new Error(result.failure.detail);
  return [result.name, Object.fromEntries(result.params)];
}

function detailOf(result: UsernameResult): string {
  if (result.kind === 'username') throw new Error(`not refused: ${result.name}`);
  expect(result.failure.code).toBe('bad_request');
  return result.failure.detail;
}

describe('A19 G4 native usernames', () => {
  it.each<[string, string, Record<string, string>]>([
    ['crawler', 'crawler', {}],
    ['', '', {}],
    ['crawler+session=cart-17', 'crawler', { session: 'cart-17' }],
    ['crawler+country=us+tags=fast,cheap', 'crawler', { country: 'us', tags: 'fast,cheap' }],
    ['crawler+session=A-b.C_d~9', 'crawler', { session: 'A-b.C_d~9' }],
    ['+session=a', '', { session: 'a' }],
    ['user-session-a1-country-us', 'user-session-a1-country-us', {}],
    ['bob@corp.example', 'bob@corp.example', {}],
    ['ü+ttl=60', 'ü', { ttl: '60' }],
    ['__proto__+mode=hard', '__proto__', { mode: 'hard' }],
  ])('%j is %j with %j', (text, name, params) => {
    expect(partsOf(parseNativeUsername(text))).toEqual([name, params]);
  });

  it('takes every key once, in any order', () => {
    const text = ['me', ...[...usernameKeys].reverse().map((key) => `${key}=x`)].join('+');
    const [, params] = partsOf(parseNativeUsername(text));
    expect(Object.keys(params).sort()).toEqual([...usernameKeys].sort());
  });

  it.each([
    ['crawler+', 'not key=value'],
    ['crawler+session=a+', 'not key=value'],
    ['crawler++session=a', 'not key=value'],
    ['crawler+=a', 'not key=value'],
    ['crawler+se ssion=a', 'not key=value'],
    ['crawler+session', 'session without a value'],
    ['crawler+session=', 'session without a value'],
    ['crawler+sesion=a', 'unknown parameter sesion'],
    ['crawler+Session=a', 'unknown parameter Session'],
    ['crawler+__proto__=a', 'not key=value'],
    ['crawler+constructor=a', 'unknown parameter constructor'],
    ['crawler+token=a', 'unknown parameter token'],
    ['crawler+ttl=60+ttl=60', 'ttl twice'],
    ['crawler+city=new york', 'value of city'],
    ['crawler+session=a=b', 'value of session'],
    ['crawler+session=ü', 'value of session'],
    ['crawler+session=a\r\nX: y', 'value of session'],
    [`crawler+session=${'a'.repeat(1100)}`, '1024'],
    ['x'.repeat(4096), '1024'],
  ])('%j is refused: %s', (text, why) => {
    expect(detailOf(parseNativeUsername(text))).toContain(why);
  });

  it('tells the keys to whoever wrote a wrong one', () => {
    expect(detailOf(parseNativeUsername('crawler+sesion=a'))).toContain('session, mode, ttl');
  });

  it('gives the name with a refusal, so that the login can be checked first', () => {
    expect(parseNativeUsername('crawler+sesion=a')).toMatchObject({ kind: 'refused', name: 'crawler' });
  });

  it('repeats neither values nor the name, and stays short', () => {
    const property = fc.property(fc.string({ unit: 'binary', maxLength: 1500 }), (text) => {
      const result = parseNativeUsername(`n4me+session=s3cret+${text}`);
      if (result.kind === 'username') return;
      expect(result.failure.detail).not.toContain('s3cret');
      expect(result.failure.detail).not.toContain('n4me');
      expect(result.failure.detail).toMatch(/^[\x20-\x7e]{1,300}$/);
    });
    fc.assert(property, { seed: 20_240_610, numRuns: 2000 });
  });

  it('is the dialect called native', () => {
    expect(nativeDialect.name).toBe('native');
    expect(nativeDialect.parse('a')).toEqual(parseNativeUsername('a'));
  });
});
