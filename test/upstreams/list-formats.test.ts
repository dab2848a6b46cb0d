/** Lists in JSON lines and CSV, and logins that must arrive byte by byte in every format. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseList } from '../../src/upstreams/list.js';

const secrets: readonly (readonly [string, string])[] = [
  ['user', 'p:a:s:s'],
  ['user', 'p@ss@'],
  ['user', 'p/a/s/s//'],
  ['us#er', '#pass#'],
  ['us?er', 'a?b&c=d'],
  ['user', '100%'],
  ['user%40x', '%41%'],
  ['a+b', 'c+d +'],
  ['my user', 'my pass word'],
  ['użytkownik', 'pä§ßwörd✓🔑'],
  ['u,s;e|r', 'a,b;c"d"e\'f'],
  ['{"a"1}', '{}[]\\'],
  ['x'.repeat(100), ''],
];

const encoded = (text: string): string => encodeURIComponent(text);
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** One list for each format, with this login in it. */
function listsWith(user: string, password: string): Record<string, string> {
  return {
    url: `http://${encoded(user)}:${encoded(password)}@h.example:8080`,
    'user:pass@host:port': `${encoded(user)}:${encoded(password)}@h.example:8080`,
    'json with fields': JSON.stringify({ host: 'h.example', port: 8080, username: user, password }),
    'json with a url': JSON.stringify({ url: `http://${encoded(user)}:${encoded(password)}@h.example:8080` }),
    csv: `host,port,username,password\nh.example,8080,${quoted(user)},${quoted(password)}`,
    'csv with semicolons': `ip;port;login;pass\nh.example;8080;${quoted(user)};${quoted(password)}`,
  };
}

describe('G6 logins arrive byte by byte', () => {
  it.each(secrets)('%j with %j', (user, password) => {
    const lists = listsWith(user, password);
    // Taken as it stands, so what a blank and # or the end of a line would cut can't stand there.
    if (!/ #|@|[\s"]$/.test(password)) lists['host:port:user:pass'] = `h.example:8080:${user}:${password}`;
    for (const [format, text] of Object.entries(lists)) {
      const { entries, problems } = parseList(text);
      expect(problems, format).toEqual([]);
      expect(
        entries.map(({ login }) => [login?.username, login?.password.reveal()]),
        format,
      ).toEqual([[user, password]]);
      expect(entries[0]?.label, format).toBe('http://h.example:8080');
    }
  });

  it('whatever they are', () => {
    const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).filter((value) => {
      return !/[\u0000-\u001f\u007f\ud800-\udfff\u0085\u2028\u2029]/.test(value);
    });
    fc.assert(
      fc.property(text, text, (user, password) => {
        for (const [format, list] of Object.entries(listsWith(user.replaceAll(':', '.'), password))) {
          const [entry] = parseList(list).entries;
          expect(entry?.login?.username, format).toBe(user.replaceAll(':', '.'));
          expect(entry?.login?.password.reveal(), format).toBe(password);
        }
      }),
      { seed: 3, numRuns: 1000 },
    );
  });
});

const shown = (text: string): unknown[] =>
  parseList(text, { tags: ['all'], weight: 2, country: 'fr' }).entries.map((entry) => [
    entry.label,
    entry.weight,
    entry.country,
    entry.city,
    entry.asn,
    entry.tags,
  ]);

describe('JSON lines', () => {
  it('say everything about an upstream, over what holds for the file', () => {
    const text = [
      '# exported',
      '',
      '{"url":"https://h:1","weight":0.5,"country":"DE","city":"New York","asn":64500,"tags":["dc","all"],"seen":1}',
      '{"ip":"::1","port":"3128","asn":"AS7","tags":"a, b"}',
      '{"Host":"h:99"}',
      '{"host":"h","port":7,"scheme":"https"}',
    ].join('\n');
    expect(shown(text)).toEqual([
      ['https://h:1', 0.5, 'de', 'new_york', 64_500, ['all', 'dc']],
      ['http://[::1]:3128', 2, 'fr', null, 7, ['all', 'a', 'b']],
      ['http://h:99', 2, 'fr', null, null, ['all']],
      ['https://h:7', 2, 'fr', null, null, ['all']],
    ]);
  });

  it.each([
    ['{"url":', /is not JSON; each line must be one object/],
    ['["http://h:1"]', /is a JSON array, not a JSON object; each line must be one object/],
    ['[1,2]', /is a JSON array/],
    ['{"host":"a","ip":"b","port":1}', /names the same thing twice/],
    ['{}', /neither url nor host/],
    ['{"host":"h"}', /port is missing/],
    ['{"host":"h","port":0}', /port is a number/],
    ['{"url":"http://h:1","host":"h"}', /not both/],
    ['{"url":"http://a:b@h:1","username":"c"}', /twice/],
    ['{"host":"h","port":1,"password":{"a":1}}', /password is text/],
    ['{"host":"h","port":1,"weight":-1}', /weight/],
    ['{"host":"h","port":1,"weight":"heavy"}', /weight/],
    ['{"host":"h","port":1,"country":"Germany"}', /two letters/],
    ['{"host":"h","port":1,"asn":-3}', /asn/],
    ['{"host":"h","port":1,"tags":[1]}', /tags/],
    ['{"host":"h","port":1,"tags":{}}', /tags/],
    ['{"host":"x@h","port":1}', /not a host name/],
    ['{"host":"h","port":1,"protocol":"gopher"}', /protocol/],
    ['{"host":"h","port":1,"username":"a\\nb"}', /control character/],
    ['{"host":"h","port":1,"__proto__":{"username":"x"}}', null],
  ])('%s', (line, reason) => {
    const { entries, problems } = parseList(`{"host":"first","port":1}\n${line}`);
    if (reason === null) expect(entries[1]?.login).toBeNull();
    else expect(problems).toEqual([{ line: 2, reason: expect.stringMatching(reason) as string }]);
  });
});

describe('CSV', () => {
  it('reads by the names of its columns, whatever their order', () => {
    const text = [
      '\uFEFF# mine',
      'Country,last_checked,IP,Port,tags,weight,asn,city',
      'de,yesterday,10.0.0.1,80,a|b,3,,"Frankfurt, Main"',
      '',
      '# out of order',
      ',,10.0.0.2,81,,,64501,',
      'us,,10.0.0.3,82',
    ].join('\r\n');
    expect(shown(text)).toEqual([
      ['http://10.0.0.1:80', 3, 'de', 'frankfurt,_main', null, ['all', 'a', 'b']],
      ['http://10.0.0.2:81', 2, 'fr', null, 64_501, ['all']],
      ['http://10.0.0.3:82', 2, 'us', null, null, ['all']],
    ]);
  });

  it('says what is wrong with a row, or with all of it', () => {
    const { problems } = parseList('proxy;country\nhttp://h:1;de;x\n"http://h:2;de\nsocks9://h:1;de');
    expect(problems.map(({ line }) => line)).toEqual([2, 3, 4]);
    expect(parseList('host,ip,port\na,b,1').problems.map(({ reason }) => reason)).toEqual([
      'two columns of the header mean the same',
      'two columns of the header mean the same',
    ]);
  });
});

describe('reasons', () => {
  it('Z08 never throw, and hold no part of a login, in any format', () => {
    const garbage = fc.string({ unit: fc.constantFrom(...'a1:@/%[]#" ,;{}\\'), maxLength: 10 });
    fc.assert(
      fc.property(garbage, garbage, (a, b) => {
        const lists = [
          `host,port,username,password\n${a},1,u${b},S3CRET${a}`,
          `url,tags\n${a}:S3CRET${b}@h:1,x`,
          `{"host":"h","port":1}\n${a}{"password":"S3CRET${b}"`,
          JSON.stringify({ url: `http://u:S3CRET${a}@${b}` }),
          JSON.stringify({ host: `${a}S3CRET${b}`, port: 1, tags: `S3CRET ${a}`, weight: `S3CRET${b}` }),
        ];
        for (const list of lists) {
          for (const { reason } of parseList(list).problems) expect(reason).not.toContain('S3CRET');
        }
      }),
      { seed: 5, numRuns: 2000 },
    );
  });
});
