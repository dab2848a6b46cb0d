import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TransportBudget } from '../../src/outcome/budget.js';

/** Everything fails: every request asks for two retries. */
function outage(budget: TransportBudget, requestsPerS: number, seconds: number, fromS = 0): number {
  let retries = 0;
  for (let n = 0; n < requestsPerS * seconds; n++) {
    const nowMs = (fromS + n / requestsPerS) * 1000;
    budget.request(nowMs);
    for (let retry = 0; retry < 2 && budget.allows(nowMs); retry++) {
      budget.spend(nowMs);
      retries++;
    }
  }
  return retries;
}

describe('TransportBudget', () => {
  it.each([50, 200, 1000])('G7 an outage at %i requests a second is amplified by a fifth at most', (rate) => {
    const budget = new TransportBudget(0.2, 10);
    outage(budget, rate, 20);
    expect(outage(budget, rate, 100, 20)).toBeLessThanOrEqual(rate * 100 * 0.2 * 1.01 + 100);
  });

  it('few requests always get their retries', () => {
    expect(outage(new TransportBudget(0.2, 10), 4, 60)).toBe(4 * 60 * 2);
  });

  it('without a floor, nothing is allowed before requests came', () => {
    const budget = new TransportBudget(0.2, 0);
    expect(budget.allows(0)).toBe(false);
    for (let n = 0; n < 5; n++) budget.request(n);
    expect(budget.allows(5)).toBe(true);
    budget.spend(5);
    expect(budget.allows(5)).toBe(false);
  });

  it('forgets after ten seconds, also after a long rest', () => {
    const budget = new TransportBudget(0.2, 0);
    for (let n = 0; n < 10; n++) budget.request(500);
    expect([budget.allows(9999), budget.allows(10_000)]).toEqual([true, false]);
    budget.request(1e9);
    budget.spend(1e9);
    expect(budget.allows(2e9)).toBe(false);
  });

  it('takes new settings', () => {
    const budget = new TransportBudget(0, 0);
    expect(budget.allows(0)).toBe(false);
    budget.configure(0, 1);
    expect(budget.allows(0)).toBe(true);
  });

  it('equals a plain count over the window, over random sequences', () => {
    const step = fc.record({ waitMs: fc.nat(3000), isRetry: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const budget = new TransportBudget(0.3, 0.4);
        const seen: { second: number; isRetry: boolean }[] = [];
        let nowMs = 0;
        for (const { waitMs, isRetry } of steps) {
          nowMs += waitMs;
          const second = Math.floor(nowMs / 1000);
          const window = seen.filter((event) => event.second > second - 10);
          const retries = window.filter((event) => event.isRetry).length;
          const isAllowed = retries < Math.max(0.3 * (window.length - retries), 4);
          expect(budget.allows(nowMs)).toBe(isAllowed);
          if (isRetry) budget.spend(nowMs);
          else budget.request(nowMs);
          seen.push({ second, isRetry });
        }
      }),
      { numRuns: 500 },
    );
  });
});
