/** What records mean is tested through lists, in list-formats.test.ts. */
import { describe, expect, it } from 'vitest';
import { fieldNamed, upstreamOfRecord } from '../../src/upstreams/list-record.js';

describe('fieldNamed', () => {
  it.each([
    ['URL', 'url'],
    [' ip ', 'host'],
    ['Login', 'username'],
    ['country_code', 'country'],
    ['type', null],
    ['__proto__', null],
    ['constructor', null],
  ])('%s', (name, field) => {
    expect(fieldNamed(name)).toBe(field);
  });
});

describe('upstreamOfRecord', () => {
  it('keeps the blanks of a login', () => {
    const parsed = upstreamOfRecord({ host: ' h ', port: ' 1 ', username: ' u ', password: ' p ' }, {});
    if (parsed.kind === 'bad') throw new Error(parsed.reason);
    expect([parsed.upstream.login?.username, parsed.upstream.login?.password.reveal()]).toEqual([
      ' u ',
      ' p ',
    ]);
    expect(parsed.upstream.label).toBe('http://h:1');
  });
});
