import { describe, expect, it } from 'vitest';
import { one } from './rule-books.js';

describe('conditions of the head', () => {
  it.each([
    ['{ status: 403 }', { status: 403 }, 'r status: 403'],
    ['{ status: [200, 500-599] }', { status: 503 }, 'r status: 503'],
    ['{ status: 500-599 }', { status: 600 }, undefined],
    ['{ header: { name: Server } }', { fields: [['SERVER', 'x']] }, 'r header server: x'],
    ['{ header: { name: server, is: Gate } }', { fields: [['Server', 'gATE']] }, 'r header server: gATE'],
    ['{ header: { name: server, is: gate } }', { fields: [['Server', 'gates']] }, undefined],
    [
      '{ header: { name: server, contains: [x, gat] } }',
      {
        fields: [
          ['Server', 'a'],
          ['Server', 'gates'],
        ],
      },
      'r header server: gates',
    ],
    [
      "{ header: { name: set-cookie, matches: '^TS[0-9a-f]{6,8}=' } }",
      {
        fields: [
          ['Set-Cookie', 'a=TS012345=1'],
          ['Set-Cookie', 'ts01a2B3c4=secret'],
        ],
      },
      'r header set-cookie: ts01a2B3c4=…',
    ],
    [
      "{ header: { name: set-cookie, matches: '^TS[0-9a-f]{6,8}=' } }",
      { fields: [['Set-Cookie', 'TS01a2b3c4d=1']] },
      undefined,
    ],
    [
      '{ header: { name: x, contains: gate, matches: end } }',
      { fields: [['X', `gate ${'.'.repeat(1024)} end`]] },
      undefined,
    ],
    ['{ header: { name: server, present: false } }', {}, 'r header server: (missing)'],
    ['{ header: { name: server, present: false } }', { fields: [['Server', 'a']] }, undefined],
    [
      '{ header: [{ name: a }, { name: b }] }',
      {
        fields: [
          ['A', '1'],
          ['B', '2'],
        ],
      },
      'r header b: 2',
    ],
    ['{ header: [{ name: a }, { name: b }] }', { fields: [['A', '1']] }, undefined],
    [
      '{ header: { name: set-cookie, contains: bot= } }',
      { fields: [['Set-Cookie', 'bot=secret; path=/']] },
      'r header set-cookie: bot=…',
    ],
    [
      '{ redirect: { contains: /captcha } }',
      { status: 302, fields: [['Location', '/Captcha?token=1']] },
      'r redirect: /Captcha',
    ],
    [
      '{ redirect: { host: gate.example } }',
      { fields: [['Location', 'https://u@a.gate.example:8443/x']] },
      'r redirect: https://u@a.gate.example:8443/x',
    ],
    [
      '{ redirect: { host: gate.example } }',
      { fields: [['Location', 'https://notgate.example/']] },
      undefined,
    ],
    ['{ redirect: { host: gate.example } }', { fields: [['Location', '/gate.example']] }, undefined],
    ['{ redirect: { contains: x } }', {}, undefined],
    ['{ slower_than: 2s }', { firstByteMs: 2500 }, 'r slower_than: 2500 ms, limit 2000 ms'],
    ['{ slower_than: 2s }', { firstByteMs: 2000 }, undefined],
    [
      "{ slower_than: '400%' }",
      { firstByteMs: 500, usual: { size: null, firstByteMs: 100 } },
      'r slower_than: 500 ms, limit 400 ms',
    ],
    ["{ slower_than: '400%' }", { firstByteMs: 500 }, undefined],
  ] as const)('%s', (when, page, expected) => {
    expect(one(when, page)).toBe(expected);
  });
});
