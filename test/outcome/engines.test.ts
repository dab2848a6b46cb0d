import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern, compileSelector, requiredLiteral } from '../../src/outcome/engines.js';

/** Patterns that blow up engines that backtrack, each with a text on which they do. */
const exponential: readonly (readonly [pattern: string, text: string])[] = [
  ['^(a+)+$', `${'a'.repeat(4000)}!`],
  ['^(a|a)*$', `${'a'.repeat(4000)}!`],
  ['^(a|aa)+$', `${'a'.repeat(4000)}!`],
  ['^(a*)*$', `${'a'.repeat(4000)}!`],
  ['^([a-zA-Z]+)*$', `${'a'.repeat(4000)}!`],
  ['(.*)*=(.*)*', 'a'.repeat(4000)],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(4000)],
  ['(x+x+)+y', 'x'.repeat(4000)],
  ['^(.*a){12}$', `${'a'.repeat(2000)}!`],
  ['(a?){25}a{25}', 'a'.repeat(24)],
  ['^(\\w+\\s?)*$', `${'word '.repeat(800)}!`],
  ['^(\\d+)*x$', '1'.repeat(4000)],
  ['(<[^>]*>)*$', `${'<a>'.repeat(1300)}<`],
  ['^((ab)*)*c$', 'ab'.repeat(2000)],
  ['^(([^"]|"")*)*$', `${'""'.repeat(2000)}"`],
  ['(\\s*\\S+\\s*)*;', ' a'.repeat(2000)],
  ['^([0-9a-f]{2}:?)+$', `${'0f:'.repeat(1300)}!`],
  ['(a|b|ab)*c', 'ab'.repeat(2000)],
  ['^(?:.*,){11}P', '1,'.repeat(2000)],
  ['((a+)b?)+$', `${'a'.repeat(4000)}!`],
];

describe('compilePattern', () => {
  it.each(exponential)('%s ends', (pattern, text) => {
    const compiled = compilePattern(pattern);
    expect(compiled.kind).toBe('ok');
    if (compiled.kind === 'ok') compiled.value.find(text);
  });

  it('finds, case aside', () => {
    const compiled = compilePattern('incident [0-9a-f]{4}');
    expect(compiled.kind === 'ok' && compiled.value.find('An INCIDENT 00Ff.')).toBe('INCIDENT 00Ff');
    expect(compiled.kind === 'ok' && compiled.value.find('An incident.')).toBe(null);
  });

  it('refuses what is too long, broken or beyond a linear engine, and says why', () => {
    for (const pattern of ['a'.repeat(513), '(a', '(a)\\1', '*', '(?<!x', '[z-a]']) {
      const compiled = compilePattern(pattern);
      expect(compiled.kind === 'bad' && compiled.why).toMatch(/pattern/);
    }
  });
});

describe('compileSelector', () => {
  it('asks whether a page has such an element', () => {
    const compiled = compileSelector('main .price');
    if (compiled.kind === 'bad') throw new Error(compiled.why);
    expect(compiled.value('<main><p><b class="x price">1</b></main>')).toBe(true);
    expect(compiled.value('<b class="price">1</b>')).toBe(false);
  });

  it('refuses what is no selector, and what is too long', () => {
    expect(compileSelector('main >> [')).toMatchObject({ kind: 'bad' });
    expect(compileSelector('a'.repeat(513))).toMatchObject({ kind: 'bad' });
  });
});

describe('requiredLiteral', () => {
  it.each([
    ['incident [0-9]+', 'incident '],
    ['(?:x|y)reference\\.id', 'reference.id'],
    ['colou?r scheme', 'r scheme'],
    ['abc+def', 'abc'],
    ['abcd{2}ef', 'abc'],
    ['[)(]token\\b', 'token'],
    ['(a[)]b)secret', 'secret'],
    ['\\x{41}\\pLword', 'word'],
    ['\\x41word\\Q.*\\Etail', 'word'],
    ['\\|pipe', '|pipe'],
    ['[]x]tail', 'tail'],
    ['a\\Qbc', null],
    ['\\p{L', null],
    ['(abc', null],
    ['abc|def', null],
    ['.*', null],
    ['ab', null],
  ])('%s needs %s', (pattern, literal) => {
    expect(requiredLiteral(pattern)).toBe(literal);
  });

  it('never throws, and never asks for what a match lacks', () => {
    const piece = fc.constantFrom('abc', 'x', 'é', '.', '(de|f)', '[gh]', 'i?', 'jkl+', '\\d', '{', '|');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.string({ unit: fc.constantFrom(...'abcdefghijklxé1'), maxLength: 30 }),
        (pieces, text) => {
          const literal = requiredLiteral(pieces.join(''));
          const compiled = compilePattern(pieces.join(''));
          if (literal === null || compiled.kind === 'bad') return;
          const match = compiled.value.find(text);
          if (match !== null) expect(match.toLowerCase()).toContain(literal.toLowerCase());
        },
      ),
    );
  });
});
