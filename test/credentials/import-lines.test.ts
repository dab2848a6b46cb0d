import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importFormats, type ImportFormat } from '../../src/credentials/credential-import.js';
import { lineReader, type LineDefaults, type LineRead } from '../../src/credentials/import-lines.js';

const plain: LineDefaults = { type: 'api_key', meta: { batch: 1 }, key: null, nowSeconds: 1_700_000_000 };

function read(format: ImportFormat, text: string, defaults: Partial<LineDefaults> = {}): LineRead[] {
  const reader = lineReader(format, { ...plain, ...defaults });
  return [...text.split('\n').flatMap((line, at) => reader.take(line, at + 1)), ...reader.end()];
}
const inputs = (reads: readonly LineRead[]) =>
  reads.map((each) =>
    each.kind === 'credential' ? each.input : `${each.line}: ${each.message.slice(0, 20)}`,
  );

describe('K2 import of CSV', () => {
  it('reads columns by the header', () => {
    const text =
      'key,type,secret,status,meta.weight,meta.old,meta\nk1,api_key,"a,""b",active,5,true,"{""x"":[1]}"\n\nk2,,s,,,,\n';
    expect(inputs(read('csv', text))).toEqual([
      {
        ...{ key: 'k1', type: 'api_key', secret: 'a,"b', status: 'active' },
        meta: { batch: 1, x: [1], weight: 5, old: true },
      },
      { key: 'k2', type: 'api_key', secret: 's', status: undefined, meta: { batch: 1 } },
    ]);
  });

  it('reads logins, with any delimiter and a mark of UTF-8', () => {
    expect(inputs(read('csv', '\uFEFFkey;username;password\nk1;anna;p,w'))).toMatchObject([
      { type: 'username_password', secret: { username: 'anna', password: 'p,w' } },
    ]);
    expect(
      inputs(read('csv', 'key\tsecret\nk1\t{"access_token":"t"}', { type: 'oauth2_token' })),
    ).toMatchObject([{ type: 'oauth2_token', secret: { access_token: 't' } }]);
  });

  it.each(['key,meta', 'secret,type', 'key,secret,key', 'key,secret,colour', 'k1,s1'])(
    'without a header that says what is what, nothing is taken: %s',
    (header) => {
      expect(inputs(read('csv', `${header}\nk1,s1\nk2,s2`))).toEqual(['1: expected a header wi']);
    },
  );

  it('tells of lines that do not fit', () => {
    const reads = read('csv', 'key,secret,meta\nk1,s1\nk2,"s2\nk3,s3,nonsense\nk4,s4,');
    expect(inputs(reads)).toMatchObject(
      [/^2: /, /^3: /, /^4: /, { key: 'k4' }].map((each) =>
        each instanceof RegExp ? (expect.stringMatching(each) as string) : each,
      ),
    );
  });
});

describe('K2 import of JSON lines', () => {
  it('reads one object a line', () => {
    const text =
      '{"key":"k1","secret":"s","meta":{"a":1}}\n\n{"key":"k2","type":"cookie_string","secret":"a=1","status":"disabled"}\r';
    expect(inputs(read('jsonl', text))).toEqual([
      { key: 'k1', type: 'api_key', secret: 's', status: 'active', meta: { batch: 1, a: 1 } },
      { key: 'k2', type: 'cookie_string', secret: 'a=1', status: 'disabled', meta: { batch: 1 } },
    ]);
  });

  it.each([
    '{',
    '[]',
    '5',
    '{"key":1,"secret":"s"}',
    '{"key":"k","secret":"s","meta":[]}',
    '{"key":"k","x":1}',
  ])('%s is none', (line) => {
    expect(read('jsonl', line)).toMatchObject([{ kind: 'fault', line: 1 }]);
  });
});

describe('K2 import of cookie files', () => {
  const file = [
    '# Netscape HTTP Cookie File',
    '# https://curl.se/docs/http-cookies.html',
    '',
    '.shop.example\tTRUE\t/\tTRUE\t1900000000\tsid\tabc',
    '#HttpOnly_www.shop.example\tFALSE\t/\tTRUE\t0\tcsrf\td=e',
    'other.test\tFALSE\t/\tFALSE\t1600000000\told\tgone',
    'other.test\tFALSE\t/\tFALSE\t0\tnew\t',
  ].join('\n');

  it('gives one credential for each site, without what is over', () => {
    expect(inputs(read('cookies', file))).toEqual([
      {
        key: 'shop.example',
        type: 'cookie_string',
        secret: 'sid=abc; csrf=d=e',
        meta: { site: 'shop.example', batch: 1 },
      },
      { key: 'other.test', type: 'cookie_string', secret: 'new=', meta: { site: 'other.test', batch: 1 } },
    ]);
    expect(inputs(read('cookies', file, { key: 'anna' }))).toMatchObject([
      { key: 'anna.shop.example' },
      { key: 'anna.other.test' },
    ]);
  });

  it.each([
    'a b c d e f g',
    'x.test\tTRUE\t/\tTRUE\tnever\tn\tv',
    'x.test\tTRUE\t/\tTRUE\t0\tn',
    'x y\tTRUE\t/\tTRUE\t0\tn\tv',
  ])('%j is none', (line) => {
    expect(read('cookies', line)).toMatchObject([{ kind: 'fault', line: 1 }]);
  });
});

describe('Z7 import', () => {
  it('never throws, and no fault repeats a byte of its line', () => {
    const mark = 'MARKMARK';
    const lines = fc.array(
      fc.oneof(fc.string(), fc.json(), fc.constant('key,secret')).map((text) => `${text}${mark}`),
    );
    fc.assert(
      fc.property(fc.constantFrom(...importFormats), lines, (format, texts) => {
        for (const each of read(format, texts.join('\n'))) {
          if (each.kind === 'fault') expect(each.message).not.toContain(mark);
        }
      }),
    );
  });
});
