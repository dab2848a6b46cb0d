import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSiteWord, RULE_SUSPENDED, SITE_DOWN, SITE_WORD_MS } from '../../src/facts/site-word.js';

describe('S7 a word about a site', () => {
  const read = (exit: string, leftMs: number) => readSiteWord({ exit, leftMs, reason: 'rule captcha' });

  it('says what is wrong there, and how long ago that was said', () => {
    expect(read(SITE_DOWN, SITE_WORD_MS)).toEqual({ kind: 'down', ageMs: 0 });
    expect(read(SITE_DOWN, SITE_WORD_MS - 5000)).toEqual({ kind: 'down', ageMs: 5000 });
    expect(read(RULE_SUSPENDED, SITE_WORD_MS)).toEqual({ kind: 'suspended', rule: 'rule captcha', ageMs: 0 });
  });

  it('says that it is over', () => {
    expect(read(SITE_DOWN, 0)).toEqual({ kind: 'up' });
    expect(read(RULE_SUSPENDED, 0)).toEqual({ kind: 'resumed' });
  });

  it('is none where it is about an exit, and never from the future, whatever Redis says', () => {
    expect(read('u-a', 1000)).toBeNull();
    fc.assert(
      fc.property(fc.integer({ min: 1 }), (leftMs) => {
        expect(read(SITE_DOWN, leftMs)).toSatisfy(
          (word) =>
            (word as { ageMs: number }).ageMs >= 0 && (word as { ageMs: number }).ageMs <= SITE_WORD_MS,
        );
      }),
    );
  });
});
