/** What each rule gives is tested in strategies.test.ts, through the table; here, what they ask for. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import type { PaceView } from '../../src/upstreams/pool.js';
import {
  adaptive,
  fastest,
  leastRecentlyUsedPerSite,
  leastUsed,
} from '../../src/upstreams/measured-strategies.js';
import { Cursors, type PickContext } from '../../src/upstreams/strategies.js';
import { ScriptedView, poolOf } from './pools.js';

describe('strategies by record', () => {
  it('ask about the site of the request', () => {
    const view = new ScriptedView();
    const sites = new Set<string>();
    view.lastUsedMs = ((_slot: number, site: string) => {
      sites.add(site);
      return 0;
    }) as ScriptedView['lastUsedMs'];
    const pool = poolOf(3);
    const context: PickContext = {
      site: 'a.example',
      view,
      cursors: new Cursors(),
      random: seededRandom(1),
      nowMs: 0,
      pace: null,
    };
    leastRecentlyUsedPerSite({ list: pool.all, slots: pool.slots, isEligible: () => true }, context);
    expect([...sites]).toEqual(['a.example']);
  });

  it('give −1 for an empty list', () => {
    const pool = poolOf(0);
    const context = {
      site: 's',
      view: new ScriptedView(),
      cursors: new Cursors(),
      random: seededRandom(1),
      nowMs: 0,
      pace: null,
    };
    const nobody = { list: pool.all, slots: pool.slots, isEligible: () => true };
    for (const pick of [leastUsed, leastRecentlyUsedPerSite, fastest]) expect(pick(nobody, context)).toBe(-1);
  });
});

describe('adaptive', () => {
  /** Ten exits at a site: rests and promises by index. */
  function paceOf(restMs: (slot: number) => number, promise: (slot: number) => number = () => 1): PaceView {
    return {
      spacingMs: 0,
      isFull: false,
      restedAtMs: () => -Infinity,
      lastUsedMs: (slot) => 100_000 - restMs(slot - 1000),
      promise: (slot) => promise(slot - 1000),
    };
  }

  const pick = (
    pace: PaceView | null,
    isEligible: (index: number) => boolean = () => true,
    size = 10,
  ): number => {
    const pool = poolOf(size, 'adaptive');
    const view = new ScriptedView();
    const more = { site: 's', view, cursors: new Cursors(), random: seededRandom(1), nowMs: 100_000, pace };
    return adaptive({ list: pool.all, slots: pool.slots, isEligible }, more);
  };

  it('N7 the longest rest first, of those that may be used', () => {
    expect(pick(paceOf((n) => n * 100))).toBe(9);
    expect(
      pick(
        paceOf((n) => n * 100),
        (index) => index < 4,
      ),
    ).toBe(3);
    expect(
      pick(
        paceOf(() => 1),
        () => false,
      ),
    ).toBe(-1);
  });

  it('one that the site has never seen comes before all', () => {
    expect(pick(paceOf((n) => (n === 4 ? Infinity : n * 100)))).toBe(4);
  });

  it('an exit of little promise needs a far longer rest, and gets its turn in the end', () => {
    const promise = (n: number): number => (n === 9 ? 0.01 : 1);
    expect(pick(paceOf((n) => n * 100, promise))).toBe(8);
    expect(pick(paceOf((n) => (n === 9 ? 100_000 : n * 100), promise))).toBe(9);
  });

  it('among a sample above a thousand, and always one that may be used', () => {
    const index = pick(
      paceOf((n) => n),
      (each) => each % 100 === 7,
      5000,
    );
    expect(index % 100).toBe(7);
  });

  it('without anything to go by, the one with the fewest requests', () => {
    expect(pick(null)).toBe(0);
  });

  it('never starves and never storms: shares follow promise, and nobody is used twice in a row', () => {
    const used = Array.from({ length: 10 }, (_, n) => 100_000 - n);
    const counts = Array.from({ length: 10 }, () => 0);
    const pool = poolOf(10, 'adaptive');
    const cursors = new Cursors();
    const random = seededRandom(2);
    let last = -1;
    for (let n = 1; n <= 3000; n++) {
      const nowMs = 100_000 + n * 10;
      const pace = {
        ...paceOf(
          () => 0,
          (each) => (each < 3 ? 0.02 : 1),
        ),
        lastUsedMs: (slot: number) => used[slot - 1000] ?? 0,
      };
      const context = { site: 's', view: new ScriptedView(), cursors, random, nowMs, pace };
      const index = adaptive({ list: pool.all, slots: pool.slots, isEligible: () => true }, context);
      expect(index).not.toBe(last);
      last = index;
      used[index] = nowMs;
      counts[index] = (counts[index] ?? 0) + 1;
    }
    for (const bad of counts.slice(0, 3)) {
      expect(bad).toBeGreaterThan(0);
      expect(bad).toBeLessThan(30);
    }
    for (const good of counts.slice(3)) expect(good).toBeGreaterThan(380);
  });
});
