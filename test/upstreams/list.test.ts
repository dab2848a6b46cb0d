import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseList } from '../../src/upstreams/list.js';

/** A list in short: label and login of each entry. */
function read(text: string): { entries: string[]; problems: { line: number; reason: string }[] } {
  const { entries, problems } = parseList(text);
  return {
    entries: entries.map(({ label, login }) =>
      login === null ? label : `${label} ${login.username} ${login.password.reveal()}`,
    ),
    problems,
  };
}

describe('parseList', () => {
  it.each([
    ['http://u:p%3A@h:1', 'http://h:1 u p:'],
    ['https://h', 'https://h:443'],
    ['10.0.0.1:3128', 'http://10.0.0.1:3128'],
    ['[::1]:3128', 'http://[::1]:3128'],
    ['u:p@10.0.0.1:3128', 'http://10.0.0.1:3128 u p'],
    ['u:p%20q@h:1', 'http://h:1 u p q'],
    ['10.0.0.1:3128:u:p', 'http://10.0.0.1:3128 u p'],
    ['10.0.0.1:3128:u:p:q%41/#@', 'http://10.0.0.1:3128 u p:q%41/#@'],
    ['[::1]:3128:u:p', 'http://[::1]:3128 u p'],
    ['h:1:u:', 'http://h:1 u '],
    ['socks5://u:p%3A@h:1', 'socks5://h:1 u p:'],
    ['socks4a://h', 'socks4a://h:1080'],
    ['direct://', 'direct://'],
    ['vendor.example:7000:user-session-1:p@ss', 'http://vendor.example:7000 user-session-1 p@ss'],
    ['h:1:u:p@i:2', 'http://i:2 h 1:u:p'],
  ])('G6 reads %s', (line, expected) => {
    expect(read(line)).toEqual({ entries: [expected], problems: [] });
  });

  it('leaves out blank lines, comments, a byte order mark and CR', () => {
    const text = '\uFEFF# my proxies\r\n\r\n  h:1  \r\n\th:2 # the slow one\r#h:3\n   \nh:4';
    expect(read(text)).toEqual({ entries: ['http://h:1', 'http://h:2', 'http://h:4'], problems: [] });
  });

  it('drops the second of two equal upstreams and says which was first', () => {
    const { entries, problems } = read('h:1\nu:p@h:1\nhttp://h:1/\nu:other@h:1');
    expect(entries).toEqual(['http://h:1', 'http://h:1 u p']);
    expect(problems).toEqual([
      { line: 3, reason: 'the same upstream as in line 1; this line is left out' },
      { line: 4, reason: 'the same upstream as in line 2; this line is left out' },
    ]);
  });

  it.each([
    ['h', /port is missing/],
    ['h:', /port/],
    ['h:99999', /port is a number/],
    ['h:99999:u:p', /port is a number/],
    ['u:p@h', /after the last @/],
    ['h:u:p', /port is a number|brackets/],
    ['socks://h:1', /which SOCKS/],
    ['socks4://u:p@h:1', /SOCKS4/],
    ['u:100%@h:1', /holds a %/],
    ['h:1:u\u0001:p', /control character/],
  ])('says the line and the reason for %j', (line, reason) => {
    const { entries, problems } = read(`# first\n${line}\nok:1`);
    expect(entries).toEqual(['http://ok:1']);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.line).toBe(2);
    expect(problems[0]?.reason).toMatch(reason);
  });

  it('gives every entry the options of the list', () => {
    const { entries } = parseList('h:1\nh:2', { tags: ['dc'], country: 'de' });
    expect(entries.map(({ tags, country }) => [tags, country])).toEqual([
      [['dc'], 'de'],
      [['dc'], 'de'],
    ]);
  });

  it('bounds what it says about a file that is no list', () => {
    const { problems } = parseList('nonsense\n'.repeat(3000));
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)).toEqual({ line: 0, reason: '2000 more lines were left out' });
  });

  it('takes a line of a million blanks in no time', () => {
    const startMs = performance.now();
    parseList(`${' '.repeat(1_000_000)}x`);
    expect(performance.now() - startMs).toBeLessThan(1000);
  });

  it('Z08 never throws, and no reason holds a part of a login', () => {
    const garbage = fc.string({ unit: fc.constantFrom(...'a1:@/%[]# .'), maxLength: 10 });
    fc.assert(
      fc.property(garbage, garbage, garbage, (a, b, c) => {
        for (const line of [`${a}:S3CRET${b}@${c}`, `${a}:${b}:S3CRET:${c}`, `${a}S3CRET${b}`]) {
          for (const { reason } of parseList(line).problems) expect(reason).not.toContain('S3CRET');
        }
      }),
      { numRuns: 3000 },
    );
  });
});
