import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBasic } from '../../src/request/credentials.js';

const base64 = (text: string, encoding: BufferEncoding = 'utf8'): string =>
  Buffer.from(text, encoding).toString('base64');

describe('Basic credentials', () => {
  it('knows that there are none', () => {
    expect(readBasic(undefined)).toEqual({ kind: 'none' });
  });

  it.each(['Basic', 'basic', 'BASIC', 'bAsIc'])('A07 takes the scheme as %s', (scheme) => {
    const expected = { kind: 'basic', username: 'crawler', password: 'pw' };
    expect(readBasic(`${scheme} ${base64('crawler:pw')}`)).toEqual(expected);
    expect(readBasic(`${scheme}   ${base64('crawler:pw')}`)).toEqual(expected);
  });

  it.each([
    ['u:p', 'u', 'p'],
    ['u:', 'u', ''],
    [':p', '', 'p'],
    [':', '', ''],
    ['u:pa:ss', 'u', 'pa:ss'],
    ['u::', 'u', ':'],
    ['u+session=a:p w', 'u+session=a', 'p w'],
    ['ü:pässwörd!~', 'ü', 'pässwörd!~'],
    ['u:%3A', 'u', '%3A'],
  ])('A04 splits %j at the first colon', (text, username, password) => {
    expect(readBasic(`Basic ${base64(text)}`)).toEqual({ kind: 'basic', username, password });
  });

  it('A04 takes latin1 where the bytes are no UTF-8, as Python sends them', () => {
    const value = `Basic ${base64('u:pässwörd', 'latin1')}`;
    expect(readBasic(value)).toEqual({ kind: 'basic', username: 'u', password: 'pässwörd' });
  });

  it.each([
    ['', 'nothing'],
    ['Basic', 'no token'],
    ['Basic ', 'no token'],
    ['Basic !!!', 'no base64'],
    [`Basic ${base64('no colon')}`, 'no colon'],
    [`Basic\t${base64('u:p')}`, 'a tab'],
    [`Basic ${base64('u:p')} `, 'a trailing blank'],
    [` Basic ${base64('u:p')}`, 'a leading blank'],
    [`Basic ${base64('u:p')}, Basic ${base64('u:p')}`, 'two'],
    ['Basic dTpw=', 'too much padding'],
    ['Basic dTpwcA', 'no padding'],
    ['Basic dTpwcB==', 'stray bits'],
    ['Basic dTp_', 'the URL alphabet'],
    ['Basic =', 'padding alone'],
    [`Basic ${base64('u:p\n')}`, 'a control character'],
    [`Basic ${base64('u\0:p')}`, 'a NUL'],
    [`Basic ${base64(`u:${'x'.repeat(9000)}`)}`, 'too long'],
    [`Bearer ${base64('u:p')}`, 'another scheme'],
    [base64('u:p'), 'no scheme'],
    ['u:p', 'clear text'],
  ])('A12 %j is malformed: %s', (value) => {
    expect(readBasic(value)).toEqual({ kind: 'malformed' });
  });

  it('reads back whatever a client may send, and never throws', () => {
    const property = fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: 'grapheme' }),
      (name, password) => {
        const [username] = name.split(':');
        const text = `${username}:${password}`;
        const result = readBasic(`Basic ${base64(text)}`);
        if (/[\0-\x1f\x7f]/.test(text)) expect(result.kind).toBe('malformed');
        else expect(result).toEqual({ kind: 'basic', username, password });
        readBasic(name);
        readBasic(`Basic ${password}`);
      },
    );
    fc.assert(property, { seed: 20_240_609, numRuns: 2000 });
  });
});
