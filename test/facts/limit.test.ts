import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  charged,
  givenBack,
  msUntilFree,
  parseRate,
  shareOfRate,
  takeOne,
  takeUpTo,
  used,
} from '../../src/facts/limit.js';
import type { Rate } from '../../src/facts/limit.js';

describe('rates as text', () => {
  it.each<[string, Rate]>([
    ['600/min', { count: 600, perMs: 60_000 }],
    ['100/10m', { count: 100, perMs: 600_000 }],
    ['300/hour', { count: 300, perMs: 3_600_000 }],
    ['50/s', { count: 50, perMs: 1000 }],
    ['5 / 10s', { count: 5, perMs: 10_000 }],
    ['1/2hours', { count: 1, perMs: 7_200_000 }],
    ['1000/day', { count: 1000, perMs: 86_400_000 }],
    ['1/250ms', { count: 1, perMs: 250 }],
    [' 50/s burst 10 ', { count: 50, perMs: 1000, burst: 10 }],
  ])('%j', (text, rate) => {
    expect(parseRate(text)).toEqual(rate);
  });

  it.each([
    '',
    '0/s',
    '-1/s',
    '1.5/s',
    '10',
    '/s',
    '10/',
    '10/week',
    '10/0s',
    '10/s burst 0',
    '10/s burst',
    '10s',
    '1/s/s',
    '9999999999/s',
  ])('%j is none', (text) => {
    expect(parseRate(text)).toBeNull();
  });
});

/** Takes at these times; gives what was let in and what was not. */
function run(rate: Rate, timesMs: readonly number[]): (number | 'ok')[] {
  let fullAtMs = 0;
  return timesMs.map((nowMs) => {
    const taken = takeOne(rate, fullAtMs, nowMs);
    if (taken.kind === 'limited') return taken.retryAfterMs;
    fullAtMs = taken.fullAtMs;
    return 'ok';
  });
}

describe('GCRA', () => {
  it('lets a whole burst in at once, and then one by one', () => {
    const rate = { count: 3, perMs: 3000 };
    expect(run(rate, [10, 10, 10, 10, 1009, 1010, 1010])).toEqual(['ok', 'ok', 'ok', 1000, 1, 'ok', 1000]);
  });

  it('spaces evenly where the burst is one', () => {
    const rate = { count: 10, perMs: 1000, burst: 1 };
    expect(run(rate, [0, 50, 99, 100, 199, 200])).toEqual(['ok', 50, 1, 'ok', 1, 'ok']);
  });

  it('forgives with time, and never more than a burst', () => {
    const rate = { count: 2, perMs: 1000 };
    expect(run(rate, [0, 0, 0, 1_000_000, 1_000_000, 1_000_000])).toEqual(['ok', 'ok', 500, 'ok', 'ok', 500]);
  });

  it('lets whoever waits as told in', () => {
    const rate = fc.record({
      count: fc.integer({ min: 1, max: 999 }),
      perMs: fc.integer({ min: 1, max: 100_000 }),
      burst: fc.integer({ min: 1, max: 50 }),
    });
    const property = fc.property(rate, fc.nat(1e9), fc.nat(100), (each, nowMs, tries) => {
      let fullAtMs = 0;
      for (let i = 0; i < tries; i++) {
        const taken = takeOne(each, fullAtMs, nowMs);
        if (taken.kind === 'taken') fullAtMs = taken.fullAtMs;
        else {
          expect(i).toBe(each.burst);
          expect(taken.retryAfterMs).toBeGreaterThan(0);
          expect(takeOne(each, fullAtMs, nowMs + taken.retryAfterMs).kind).toBe('taken');
          return;
        }
      }
    });
    fc.assert(property, { seed: 20_240_613, numRuns: 1000 });
  });

  it('admits at most limit + burst in any window, and at least 99 % of the limit over a long one', () => {
    const rate = { count: 600, perMs: 60_000, burst: 20 };
    const times = Array.from({ length: 60_000 }, (_, i) => i * 2);
    const admitted = run(rate, times)
      .map((each, i) => (each === 'ok' ? (times[i] ?? 0) : -1))
      .filter((ms) => ms >= 0);
    expect(admitted.length).toBeGreaterThanOrEqual(1200 * 0.99);
    expect(admitted.length).toBeLessThanOrEqual(1200 + 20);
    for (const from of [0, 10_000, 60_000]) {
      const inWindow = admitted.filter((ms) => ms >= from && ms < from + 60_000).length;
      expect(inWindow).toBeLessThanOrEqual(620);
    }
  });
});

describe('what has passed already', () => {
  const rate = { count: 1000, perMs: 10_000 };

  it('is used up at the whole, not before, and comes back with time', () => {
    let fullAtMs = charged(rate, { fullAtMs: 0, amount: 999 }, 5000);
    expect(msUntilFree(rate, fullAtMs, 5000)).toBeLessThanOrEqual(0);
    fullAtMs = charged(rate, { fullAtMs, amount: 1 }, 5000);
    expect(msUntilFree(rate, fullAtMs, 5000)).toBe(1);
    fullAtMs = charged(rate, { fullAtMs, amount: 500 }, 5000);
    expect(msUntilFree(rate, fullAtMs, 5000)).toBe(5001);
    expect(msUntilFree(rate, fullAtMs, 5000 + 5001)).toBeLessThanOrEqual(0);
  });

  it('is told as what is used now, and shrinks with time', () => {
    const fullAtMs = charged(rate, { fullAtMs: 0, amount: 1500 }, 5000);
    expect([5000, 10_000, 20_000, 90_000].map((nowMs) => used(rate, fullAtMs, nowMs))).toEqual([
      1500, 1000, 0, 0,
    ]);
    expect(used(rate, 0, 5000)).toBe(0);
  });

  it('is never more than the rate over a long time, whatever the pieces', () => {
    const pieces = fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 50, maxLength: 100 });
    fc.assert(
      fc.property(pieces, (amounts) => {
        let [fullAtMs, passed, nowMs] = [0, 0, 1000];
        for (const amount of amounts) {
          nowMs += Math.max(0, msUntilFree(rate, fullAtMs, nowMs));
          fullAtMs = charged(rate, { fullAtMs, amount }, nowMs);
          passed += amount;
        }
        // A whole rate at once, and then as time goes; the last piece may go over.
        expect(passed).toBeLessThanOrEqual(1000 + ((nowMs - 1000) * 1000) / 10_000 + 400);
      }),
    );
  });
});

describe('several at once, and parts of a rate', () => {
  const rates = fc.record({
    count: fc.integer({ min: 1, max: 50 }),
    perMs: fc.integer({ min: 1, max: 100_000 }),
    burst: fc.integer({ min: 1, max: 60 }),
  });

  it('S8 grants as many as one by one would', () => {
    fc.assert(
      fc.property(rates, fc.array(fc.tuple(fc.nat(5000), fc.integer({ min: 1, max: 9 }))), (rate, asks) => {
        let [many, single, nowMs] = [0, 0, 1_000_000];
        for (const [waitMs, wanted] of asks) {
          nowMs += waitMs;
          const taken = takeUpTo(rate, { fullAtMs: many, wanted }, nowMs);
          many = taken.fullAtMs;
          let granted = 0;
          for (let n = 0; n < wanted; n++) {
            const one = takeOne(rate, single, nowMs);
            if (one.kind === 'limited') break;
            single = one.fullAtMs;
            granted++;
          }
          expect(taken.granted).toBe(granted);
          expect(taken.retryAfterMs > 0).toBe(granted === 0);
          expect(Math.abs(many - single)).toBeLessThan(1);
        }
      }),
    );
  });

  it('S3 parts of a rate are together no more than the rate, but each at least one', () => {
    const rate = { count: 100, perMs: 1000, burst: 10 };
    expect(shareOfRate(rate, 4)).toEqual({ count: 25, perMs: 1000, burst: 2 });
    expect(shareOfRate(rate, 100)).toEqual({ count: 1, perMs: 1000, burst: 1 });
    expect(shareOfRate({ count: 8, perMs: 1000 }, 0)).toEqual({ count: 8, perMs: 1000, burst: 8 });
  });
});

describe('giving back', () => {
  it('K3 one that was taken and given back leaves what there was', () => {
    const rates = fc.record({
      count: fc.integer({ min: 1, max: 1000 }),
      perMs: fc.integer({ min: 1, max: 86_400_000 }),
    });
    fc.assert(
      fc.property(rates, fc.nat(1000), (rate, fullAtMs) => {
        const taken = takeOne(rate, fullAtMs, 1000);
        if (taken.kind === 'taken') expect(givenBack(rate, taken.fullAtMs)).toBeCloseTo(1000, 6);
      }),
    );
  });
});
