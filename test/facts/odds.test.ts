import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { LEAST_ODDS, ODDS_HALVE_MS, drawOdds, noOdds, oddsAfter, type Odds } from '../../src/facts/odds.js';

function seen(goods: number, bads: number, nowMs = 0): Odds {
  let odds = noOdds;
  for (let n = 0; n < bads; n++) odds = oddsAfter(odds, { isGood: false, latencyMs: null }, nowMs);
  for (let n = 0; n < goods; n++) odds = oddsAfter(odds, { isGood: true, latencyMs: 100 }, nowMs);
  return odds;
}

function meanDraw(odds: Odds, nowMs: number): number {
  const random = seededRandom(3);
  let sum = 0;
  for (let n = 0; n < 2000; n++) sum += drawOdds(odds, nowMs, random);
  return sum / 2000;
}

describe('odds of an exit', () => {
  it('one without a failure is worth a full chance, known or not', () => {
    expect(drawOdds(noOdds, 0, seededRandom(1))).toBe(1);
    expect(drawOdds(seen(20, 0), 0, seededRandom(1))).toBe(1);
  });

  it('are drawn about the share of good answers', () => {
    expect(meanDraw(seen(30, 10), 0)).toBeCloseTo(0.74, 1);
    expect(meanDraw(seen(2, 20), 0)).toBeLessThan(0.2);
  });

  it('never write anybody off, and never promise more than all', () => {
    const random = seededRandom(5);
    const odds = seen(0, 40);
    for (let n = 0; n < 500; n++) expect(drawOdds(odds, 0, random)).toBeGreaterThanOrEqual(LEAST_ODDS);
    for (let n = 0; n < 500; n++) expect(drawOdds(seen(40, 1), 0, random)).toBeLessThanOrEqual(1);
  });

  it('forget: half after five minutes, all in time', () => {
    const odds = seen(0, 8);
    expect(meanDraw(odds, ODDS_HALVE_MS * 3)).toBeGreaterThan(meanDraw(odds, 0) + 0.1);
    expect(drawOdds(odds, ODDS_HALVE_MS * 10, seededRandom(1))).toBe(1);
  });

  it('a hundred good answers of old do not hide that it fails now', () => {
    const odds = seen(0, 0);
    let now = odds;
    for (let n = 0; n < 200; n++) now = oddsAfter(now, { isGood: true, latencyMs: 50 }, 0);
    for (let n = 0; n < 50; n++) now = oddsAfter(now, { isGood: false, latencyMs: null }, 0);
    expect(meanDraw(now, 0)).toBeLessThan(0.5);
  });

  it('smooth the time to the first byte, and leave it where there is none', () => {
    const first = oddsAfter(noOdds, { isGood: true, latencyMs: 100 }, 0);
    const second = oddsAfter(first, { isGood: true, latencyMs: 200 }, 0);
    expect([first.latencyMs, second.latencyMs]).toEqual([100, 120]);
    expect(oddsAfter(second, { isGood: false, latencyMs: null }, 0).latencyMs).toBe(120);
    expect(oddsAfter(noOdds, { isGood: false, latencyMs: null }, 0).latencyMs).toBe(0);
  });
});
