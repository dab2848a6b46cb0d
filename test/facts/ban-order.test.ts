import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_VERSION, nextVersion, supersedes } from '../../src/facts/ban-order.js';
import type { BanWord } from '../../src/facts/ban-order.js';

const word = fc.record({
  version: fc.integer({ min: 1, max: 3 }),
  untilMs: fc.constantFrom(0, 100, 200),
  by: fc.constantFrom('g1', 'g2', 'g3'),
});

/** A gateway says one thing under one version. */
const consistent = (words: readonly BanWord[]): BanWord[] => [
  ...new Map(words.map((each) => [`${each.version} ${each.by}`, each])).values(),
];

const held = (words: readonly BanWord[]): BanWord | undefined =>
  words.reduce<BanWord | undefined>(
    (best, each) => (best === undefined || supersedes(each, best) ? each : best),
    undefined,
  );

describe('order of words about a ban', () => {
  const ban = { version: 1, untilMs: 100, by: 'g1' };

  it('S4 a later version holds, also where it lifts', () => {
    expect(supersedes({ ...ban, version: 2, untilMs: 0 }, ban)).toBe(true);
    expect(supersedes(ban, { ...ban, version: 2, untilMs: 0 })).toBe(false);
  });

  it('S4 of equal versions the longer holds, and a repetition never', () => {
    expect(supersedes({ ...ban, by: 'g2', untilMs: 101 }, ban)).toBe(true);
    expect(supersedes({ ...ban, by: 'g2', untilMs: 99 }, ban)).toBe(false);
    expect(supersedes({ ...ban, by: 'g2' }, ban)).toBe(true);
    expect(supersedes({ ...ban, by: 'g0' }, ban)).toBe(false);
    expect(supersedes({ ...ban, untilMs: 150 }, ban)).toBe(false);
  });

  it('S4 any order and any repetition ends in the same word', () => {
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 8 }),
        fc.infiniteStream(fc.nat()),
        (all, stream) => {
          const words = consistent(all);
          const chance = stream[Symbol.iterator]();
          const again = [...words, ...words].sort(() => (Number(chance.next().value) % 3) - 1);
          expect(held(again)).toEqual(held(words));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('counts versions from 1 to a bound', () => {
    expect([nextVersion(null), nextVersion(7), nextVersion(MAX_VERSION)]).toEqual([1, 8, MAX_VERSION]);
  });
});
