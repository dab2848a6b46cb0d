import { describe, expect, it } from 'vitest';
import { Spending, noCost, untilTomorrowMs, type PoolCost } from '../../src/outcome/spending.js';

const NOON = Date.UTC(2026, 0, 15, 12);
const dear: PoolCost = { perGb: 4, perRequest: 0.1, budgetPerDay: 1 };

describe('S8 what a pool costs', () => {
  it('by request and by gigabyte', () => {
    const spending = new Spending();
    spending.charge('dear', dear, { requests: 3, bytes: 50_000_000, wallMs: NOON });
    expect(spending.today('dear', NOON)).toBeCloseTo(0.5);
    expect(spending.today('cheap', NOON)).toBe(0);
  });

  it('a budget bears exactly what it says, and is new on the next day', () => {
    const spending = new Spending();
    let made = 0;
    while (spending.allows('dear', dear, NOON) && made < 99) {
      spending.charge('dear', dear, { requests: 1, bytes: 0, wallMs: NOON });
      made++;
    }
    expect(made).toBe(10);
    const tomorrow = NOON + untilTomorrowMs(NOON);
    expect(spending.allows('dear', dear, tomorrow - 1)).toBe(false);
    expect(spending.allows('dear', dear, tomorrow)).toBe(true);
    spending.charge('dear', dear, { requests: 1, bytes: 0, wallMs: tomorrow });
    expect(spending.today('dear', tomorrow)).toBeCloseTo(0.1);
  });

  it('bytes alone can use up a budget', () => {
    const spending = new Spending();
    const perGb = { ...dear, perRequest: 0 };
    spending.charge('dear', perGb, { requests: 1, bytes: 300_000_000, wallMs: NOON });
    expect(spending.allows('dear', perGb, NOON)).toBe(false);
  });

  it('what costs nothing is never charged nor stopped', () => {
    const spending = new Spending();
    spending.charge('free', noCost, { requests: 1e9, bytes: 1e12, wallMs: NOON });
    expect([spending.today('free', NOON), spending.allows('free', noCost, NOON)]).toEqual([0, true]);
  });
});
