import { describe, expect, it } from 'vitest';
import { decisive, findingOf } from '../../src/outcome/rules.js';
import { bookOf, headOf, LOOK_AT, met, stageOf } from './rule-books.js';
import { fault } from './verdicts.js';

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
