/** Rules from their text to what they meet: compile-rules, meet-head, meet-body and rules together. */
import { describe, expect, it } from 'vitest';
import { loadRules } from '../../src/config/rule-file.js';
import { compileRules } from '../../src/outcome/compile-rules.js';
import { decisive, findingOf, RuleBook } from '../../src/outcome/rules.js';
import type { HeadSeen } from '../../src/outcome/rule-sights.js';
import { Fields } from '../../src/http1/fields.js';
import { fault } from './verdicts.js';

const LOOK_AT = 1024;

function bookOf(rules: string): RuleBook {
  const loaded = loadRules(`detection: { fingerprints: false }\nrules: ${rules}`);
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const compiled = compileRules(loaded.rules);
  if (compiled.kind === 'problems') throw new Error(JSON.stringify(compiled.problems));
  return new RuleBook(compiled.compiled, LOOK_AT);
}

interface Page {
  readonly status?: number;
  readonly fields?: readonly (readonly [string, string])[];
  readonly body?: string;
  readonly isWhole?: boolean;
  readonly length?: number | null;
  readonly firstByteMs?: number;
  readonly usual?: HeadSeen['usual'];
  readonly isReadable?: boolean;
  readonly host?: string;
}

const headOf = (page: Page): HeadSeen => ({
  status: page.status ?? 200,
  fields: Fields.of(...(page.fields ?? [])),
  firstByteMs: page.firstByteMs ?? 10,
  usual: page.usual ?? { size: null, firstByteMs: null },
  length: page.length === undefined ? (page.body ?? '').length : page.length,
  isReadable: page.isReadable ?? true,
});

const stageOf = (rules: string, page: Page) =>
  bookOf(rules)
    .at({ host: page.host ?? 'www.shop.example', site: 'shop.example' })
    .judgeHead(headOf(page));

/** Names of the rules that a page meets, each with the condition and what was found. */
function met(rules: string, page: Page): string[] {
  const place = bookOf(rules).at({ host: page.host ?? 'www.shop.example', site: 'shop.example' });
  const stage = place.judgeHead(headOf(page));
  const { body = '', isWhole = true } = page;
  const hits =
    stage.pending.length === 0
      ? stage.hits
      : place.judgeBody(stage, { bytes: Buffer.from(body), isWhole, length: isWhole ? body.length : null });
  return hits.map(({ rule, field, found }) => `${rule.spec.name} ${field}: ${found}`);
}

const one = (when: string, page: Page): string | undefined => met(`[{ name: r, when: ${when} }]`, page)[0];

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

describe('conditions of the body', () => {
  it.each([
    ['{ body: { contains: [x1, CAPTCHA] } }', { body: 'a captcha' }, 'r body: CAPTCHA'],
    ['{ body: { contains_all: [are you, a robot] } }', { body: 'Are you? A robot!' }, 'r body: a robot'],
    ['{ body: { contains_all: [are you, a robot] } }', { body: 'Are you?' }, undefined],
    ["{ body: { matches: 'incident [0-9]+' } }", { body: 'INCIDENT 42' }, 'r body: INCIDENT 42'],
    ["{ body: { matches: 'incident [0-9]+' } }", { body: 'incident x' }, undefined],
    ['{ body: { contains: abc, within: 4 } }', { body: '..abc' }, undefined],
    ['{ body: { contains: abc, within: 5 } }', { body: '..abc' }, 'r body: abc'],
    ['{ body: { contains: abc } }', { body: 'abc', isReadable: false }, undefined],
    ['{ size_below: 10 }', { body: 'short' }, 'r size_below: 5 bytes, limit 10'],
    ['{ size_below: 10 }', { body: 'short', length: null }, 'r size_below: 5 bytes, limit 10'],
    ['{ size_below: 10 }', { body: 'short', length: null, isWhole: false }, undefined],
    ['{ size_below: 10 }', { body: 'short', isReadable: false }, undefined],
    ['{ size_below: 10 }', { body: 'short', status: 404 }, undefined],
    ['{ size_below: 10, status: 404 }', { body: 'short', status: 404 }, 'r size_below: 5 bytes, limit 10'],
    [
      "{ size_below: '30%' }",
      { body: 'short', usual: { size: 100, firstByteMs: null } },
      'r size_below: 5 bytes, limit 30',
    ],
    ["{ size_below: '30%' }", { body: 'short' }, undefined],
    ['{ size_below: 10, body: { contains: or } }', { body: 'short' }, 'r body: or'],
    ['{ size_below: 3, body: { contains: or } }', { body: 'short' }, undefined],
    ['{ missing: { text: [basket, price] } }', { body: 'hm' }, 'r missing: basket, price'],
    ['{ missing: { text: [basket, price] } }', { body: 'a PRICE' }, undefined],
    ['{ missing: { text: basket } }', { body: 'hm', isWhole: false }, undefined],
    ["{ missing: { selector: 'b.price' } }", { body: '<b>1</b>' }, 'r missing: the selector'],
    ["{ missing: { selector: 'b.price' } }", { body: '<b class=price>1</b>' }, undefined],
    ["{ missing: { selector: 'b.price' } }", { body: '<b>', status: 404 }, undefined],
  ] as const)('%s', (when, page, expected) => {
    expect(one(when, page)).toBe(expected);
  });
});

describe('which rule decides', () => {
  const rules = `[
    { name: seen, shadow: true, when: { body: { contains: abc } } },
    { name: good, when: { header: { name: x-good } }, then: deliver },
    { name: bad, when: [{ body: { contains: abc } }, { status: 403 }], scope: exit }]`;

  it('is the first in their order that is more than counted', () => {
    const place = bookOf(rules).at({ host: 'a.example', site: 'a.example' });
    const page = { body: 'abc', status: 403, fields: [['X-Good', '1']] } as const;
    const stage = place.judgeHead(headOf(page));
    // What stands behind the rule that decides needs no body any more.
    expect(stage.pending.map(({ spec }) => spec.name)).toEqual(['seen']);
    const hits = place.judgeBody(stage, { bytes: Buffer.from('abc'), isWhole: true, length: 3 });
    expect(hits.map(({ rule }) => rule.spec.name).sort()).toEqual(['bad', 'good', 'seen']);
    const hit = decisive(hits);
    expect(hit?.rule.spec.name).toBe('good');
    if (hit === null) return;
    expect(findingOf(hit, { status: 403, bodyHash: null, bodyStart: null })).toEqual({
      name: 'good',
      actions: ['deliver'],
      scope: 'exit_site',
      evidence: { status: 403, field: 'header x-good', found: '1', bodyHash: null, bodyStart: null },
    });
  });

  it('is none where rules are only counted', () => {
    expect(met(rules, { body: 'abc' })).toEqual(['seen body: abc', 'bad body: abc']);
    expect(decisive([])).toBe(null);
  });
});

describe('where a rule holds', () => {
  const rules = (site: string): string => `[{ name: r, site: ${site}, when: { status: 403 } }]`;
  it.each([
    ['shop.example', 'www.shop.example', true],
    ["'*.shop.example'", 'www.shop.example', true],
    ['www.shop.example', 'www.shop.example', true],
    ['api.shop.example', 'www.shop.example', false],
    ["'*.op.example'", 'www.shop.example', false],
  ])('%s holds at %s: %s', (site, host, expected) => {
    expect(met(rules(site), { status: 403, host }).length > 0).toBe(expected);
  });

  it('rules of a place are kept, and those of thousands of places are forgotten again', () => {
    const book = bookOf(rules("'*.shop.example'"));
    const place = { host: 'a.shop.example', site: 'shop.example' };
    const first = book.at(place);
    expect(book.at(place)).toBe(first);
    expect(book.at({ host: 'b.shop.example', site: 'shop.example' })).toBe(first);
    for (let n = 0; n < 2000; n++) book.at({ host: `${n}.example`, site: `${n}.example` });
    expect(book.at(place)).not.toBe(first);
  });
});

describe('how much of a body is wanted', () => {
  it.each([
    ['[]', {}, 0],
    ['[{ name: r, when: { body: { contains: a } } }]', {}, LOOK_AT],
    ['[{ name: r, when: { body: { contains: a, within: 5KiB } } }]', {}, 5120],
    ['[{ name: r, when: { status: 403, body: { contains: a } } }]', {}, 0],
    ['[{ name: r, when: { size_below: 100 } }]', { length: null }, 100],
    ['[{ name: r, when: { size_below: 100 } }]', { length: 5000 }, 0],
    ['[{ name: r, when: { size_below: 100, body: { contains: a } } }]', { length: null }, 100],
    ['[{ name: r, when: { missing: { text: a } } }]', { length: null }, 256 * 1024],
    ['[{ name: r, when: { body: { contains: a } } }]', { isReadable: false }, 0],
  ])('%s of %o', (rules, page, expected) => {
    expect(stageOf(rules, { length: 5000, ...page }).holdBytes).toBe(expected);
  });

  it('engines run on texts that have what their patterns need', () => {
    const place = bookOf("[{ name: r, when: { body: { matches: 'abc[0-9]' } } }]").at({
      host: 'a',
      site: 'a',
    });
    const stage = place.judgeHead(headOf({}));
    expect(place.wantsEngine(stage, Buffer.from('..ABC'))).toBe(true);
    expect(place.wantsEngine(stage, Buffer.from('..AB'))).toBe(false);
    expect(
      place.wantsEngine(bookOf('[]').at({ host: 'a', site: 'a' }).judgeHead(headOf({})), Buffer.from('x')),
    ).toBe(false);
  });
});

describe('faults', () => {
  it('are met by kind', () => {
    const place = bookOf('[{ name: r, when: { connect_fault: [reset, closed] } }]').at({
      host: 'a',
      site: 'a',
    });
    expect(place.judgeFault(fault('reset', 'first_byte'))).toMatchObject([
      { field: 'connect_fault', found: 'reset (first_byte)' },
    ]);
    expect(place.judgeFault(fault('timeout'))).toEqual([]);
    expect(bookOf('[]').at({ host: 'a', site: 'a' }).judgeFault(fault('reset'))).toEqual([]);
  });
});
