import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import type { Pool, StrategyName } from '../../src/upstreams/pool.js';
import { EXACT_MAX } from '../../src/upstreams/scan.js';
import { Cursors, strategies, type Candidates } from '../../src/upstreams/strategies.js';
import { ScriptedView, poolOf } from './pools.js';

const names: StrategyName[] = [
  'round_robin',
  'random',
  'weighted_random',
  'least_used',
  'least_recently_used_per_site',
  'fastest',
  'hash',
];

/** One strategy on one pool, picked from again and again. */
class Picker {
  readonly view = new ScriptedView();
  readonly cursors = new Cursors();
  readonly site = 'shop.example';
  readonly random = seededRandom(7);
  readonly nowMs = 0;
  readonly pace = null;
  asked = 0;
  isEligible: (index: number) => boolean = () => true;

  constructor(
    readonly pool: Pool,
    readonly list = pool.all,
  ) {}

  next(): number {
    const candidates: Candidates = {
      list: this.list,
      slots: this.pool.slots,
      isEligible: (index) => {
        this.asked++;
        return this.isEligible(index);
      },
    };
    return strategies[this.pool.strategy](candidates, this);
  }

  counts(picks: number): number[] {
    const counts = this.pool.upstreams.map(() => 0);
    for (let n = 0; n < picks; n++) {
      const index = this.next();
      counts[index] = (counts[index] ?? 0) + 1;
    }
    return counts;
  }
}

describe.each(names)('%s', (name) => {
  it.each([1, 10, EXACT_MAX, EXACT_MAX + 500])('finds the only usable exit of %i', (count) => {
    const picker = new Picker(poolOf(count, name));
    for (const only of [0, count >> 1, count - 1]) {
      picker.isEligible = (index) => index === only;
      expect(picker.next()).toBe(only);
    }
  });

  it.each([0, 10, EXACT_MAX + 500])('says so when none of %i may be used', (count) => {
    const picker = new Picker(poolOf(count, name));
    picker.isEligible = () => false;
    expect(picker.next()).toBe(-1);
  });

  it('never picks who may not be used, and always picks while someone may', () => {
    const pool = poolOf(40, name);
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), fc.nat(), (usable, seed) => {
        const picker = Object.assign(new Picker(pool), { random: seededRandom(seed) });
        picker.isEligible = (index) => usable[index] === true;
        const index = picker.next();
        expect(index >= 0 ? usable[index] : false).toBe(usable.includes(true));
      }),
    );
  });

  it('keeps to its list', () => {
    const pool = poolOf(30, name, (n) => (n % 3 === 0 ? { tags: ['third'] } : {}));
    const picker = new Picker(pool, pool.byTag.get('third'));
    for (let n = 0; n < 100; n++) expect(picker.next() % 3).toBe(0);
  });

  it('asks about few of 10,000 exits', () => {
    const picker = new Picker(poolOf(10_000, name));
    picker.isEligible = (index) => index % 2 === 0;
    for (let n = 0; n < 200; n++) picker.next();
    expect(picker.asked).toBeLessThan(200 * 32);
  });
});

describe('round_robin', () => {
  it('takes every exit in turn', () => {
    const picker = new Picker(poolOf(3, 'round_robin'));
    expect([1, 2, 3, 4, 5, 6, 7].map(() => picker.next())).toEqual([0, 1, 2, 0, 1, 2, 0]);
  });

  it('passes over who is out, and its neighbour gets no double share', () => {
    const picker = new Picker(poolOf(5, 'round_robin'));
    picker.isEligible = (index) => index !== 1 && index !== 2;
    expect(picker.counts(300)).toEqual([100, 0, 0, 100, 100]);
  });

  it('keeps a turn for each list, so that two filters don’t skip over each other’s exits', () => {
    const pool = poolOf(4, 'round_robin', (n) => ({ tags: [n < 2 ? 'a' : 'b'] }));
    const a = new Picker(pool, pool.byTag.get('a'));
    const b = Object.assign(new Picker(pool, pool.byTag.get('b')), { cursors: a.cursors });
    expect([a.next(), b.next(), a.next(), b.next(), a.next()]).toEqual([0, 2, 1, 3, 0]);
  });

  it('goes on after the list became shorter', () => {
    const cursors = new Cursors();
    cursors.set('main\nall', 7);
    const picker = Object.assign(new Picker(poolOf(3, 'round_robin')), { cursors });
    expect(picker.next()).toBe(0);
  });
});

describe('random', () => {
  it('gives every exit the same share', () => {
    for (const count of new Picker(poolOf(10, 'random')).counts(20_000)) {
      expect(count).toBeGreaterThan(1800);
      expect(count).toBeLessThan(2200);
    }
  });

  it('is exact up to a thousand exits also when nearly all are out', () => {
    const picker = new Picker(poolOf(1000, 'random'));
    picker.isEligible = (index) => index < 2;
    const counts = picker.counts(4000);
    expect(counts[0]).toBeGreaterThan(1800);
    expect(counts[1]).toBeGreaterThan(1800);
  });
});

describe('weighted_random', () => {
  it('gives shares by weight, also among those that are left', () => {
    const picker = new Picker(poolOf(3, 'weighted_random', (n) => ({ weight: [1, 2, 7][n] ?? 1 })));
    const [one = 0, two = 0, seven = 0] = picker.counts(20_000);
    expect(one / 2000).toBeCloseTo(1, 0);
    expect(two / 4000).toBeCloseTo(1, 0);
    expect(seven / 14_000).toBeCloseTo(1, 0);
    picker.isEligible = (index) => index !== 2;
    const [first = 0, other = 0, none] = picker.counts(9000);
    expect(other / first).toBeGreaterThan(1.8);
    expect(other / first).toBeLessThan(2.2);
    expect(none).toBe(0);
  });

  it('is exact up to a thousand exits also when all draws miss', () => {
    const weight = (n: number): number => (n === 0 ? 1e-6 : n === 1 ? 3e-6 : 1);
    const picker = new Picker(poolOf(1000, 'weighted_random', (n) => ({ weight: weight(n) })));
    picker.isEligible = (index) => index < 2;
    const [one = 0, three = 0] = picker.counts(4000);
    expect(three / one).toBeGreaterThan(2.6);
    expect(three / one).toBeLessThan(3.4);
  });
});

describe('least_used', () => {
  it('takes the one with the fewest exchanges in flight', () => {
    const picker = new Picker(poolOf(4, 'least_used'));
    [3, 1, 2, 5].forEach((inFlight, index) => picker.view.busy.set(index, inFlight));
    expect(picker.next()).toBe(1);
    picker.isEligible = (index) => index !== 1;
    expect(picker.next()).toBe(2);
  });

  it('lets equals take turns', () => {
    expect(new Picker(poolOf(4, 'least_used')).counts(400)).toEqual([100, 100, 100, 100]);
  });

  it('keeps 1500 exits within a few of each other by sampling', () => {
    const picker = new Picker(poolOf(1500, 'least_used'));
    for (let n = 0; n < 15_000; n++) {
      const index = picker.next();
      picker.view.busy.set(index, (picker.view.busy.get(index) ?? 0) + 1);
    }
    expect(Math.max(...picker.view.busy.values())).toBeLessThan(13);
  });
});

describe('least_recently_used_per_site', () => {
  it('takes who was never used, then who has rested longest', () => {
    const picker = new Picker(poolOf(4, 'least_recently_used_per_site'));
    const order = Array.from({ length: 10 }, (_, n) => {
      const index = picker.next();
      picker.view.usedMs.set(index, n);
      return index;
    });
    expect(order).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
    picker.view.usedMs.set(2, 100);
    picker.isEligible = (index) => index !== 3;
    expect(picker.next()).toBe(0);
  });

  it('leaves nobody of 1500 without rest: who was used lately hardly comes again', () => {
    const picker = new Picker(poolOf(1500, 'least_recently_used_per_site'));
    const gaps: number[] = [];
    for (let n = 0; n < 6000; n++) {
      const index = picker.next();
      const before = picker.view.usedMs.get(index);
      if (before !== undefined) gaps.push(n - before);
      picker.view.usedMs.set(index, n);
    }
    expect(gaps.filter((gap) => gap < 750).length / gaps.length).toBeLessThan(0.001);
  });
});

describe('fastest', () => {
  const speeds = (picker: Picker, ...ms: number[]): void =>
    ms.forEach((each, index) => picker.view.speeds.set(index, each));

  it('takes the fastest nearly always, and sometimes any, so that a slow one is measured again', () => {
    const picker = new Picker(poolOf(4, 'fastest'));
    speeds(picker, 90, 30, 60, Infinity);
    const [slow = 0, fast = 0, middle = 0, dead = 0] = picker.counts(6400);
    expect(fast).toBeGreaterThan(6100);
    for (const count of [slow, middle, dead]) {
      expect(count).toBeGreaterThan(20);
      expect(count).toBeLessThan(90);
    }
  });

  it('gives every untried exit a chance, one request at a time', () => {
    const picker = new Picker(poolOf(4, 'fastest'));
    speeds(picker, 10, 20, 0, 0);
    const picks = new Set<number>();
    for (let n = 0; n < 40; n++) {
      const index = picker.next();
      picks.add(index);
      if (index >= 2) picker.view.busy.set(index, 1);
    }
    expect(picks).toContain(2);
    expect(picks).toContain(3);
    expect(picker.counts(320)[0]).toBeGreaterThan(300);
  });

  it('does not bury the fastest under requests', () => {
    const picker = new Picker(poolOf(2, 'fastest'));
    speeds(picker, 30, 60);
    for (let n = 0; n < 300; n++) {
      const index = picker.next();
      picker.view.busy.set(index, (picker.view.busy.get(index) ?? 0) + 1);
    }
    expect(picker.view.busy.get(0)).toBeGreaterThan(190);
    expect(picker.view.busy.get(1)).toBeGreaterThan(90);
  });

  it('finds fast ones among 5000 by sampling', () => {
    const picker = new Picker(poolOf(5000, 'fastest'));
    for (let index = 0; index < 5000; index++) picker.view.speeds.set(index, 100 + index);
    const picked = Array.from({ length: 500 }, () => picker.next());
    expect(picked.filter((index) => index < 1000).length).toBeGreaterThan(450);
  });
});

describe('Cursors', () => {
  it('forgets the lists of pools that a reload did away with', () => {
    const cursors = new Cursors();
    cursors.set('a\nall', 3);
    cursors.set('b\ntag=x', 4);
    cursors.keep(new Set(['b']));
    expect([cursors.at('a\nall', 10), cursors.at('b\ntag=x', 10), cursors.at('b\ntag=x', 4)]).toEqual([
      0, 4, 0,
    ]);
  });
});
