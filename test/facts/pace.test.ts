import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FIRST_SPACING_MS,
  LEAST_SPACING_MS,
  MAX_SPACING_MS,
  SitePace,
  type PacedAnswer,
} from '../../src/facts/pace.js';

function after(restMs: number, nowMs: number, changes: Partial<PacedAnswer> = {}): PacedAnswer {
  return { restMs, meanRestMs: restMs, factor: 1, haste: 1, isLed: false, nowMs, ...changes };
}

/** Good answers as fast as the pace allows, for this long. */
function crawlWell(pace: SitePace, seconds: number, fromMs = 0): number {
  let nowMs = fromMs;
  while (nowMs < fromMs + seconds * 1000) {
    nowMs += Math.max(1, pace.spacingMs / 10);
    pace.good(after(pace.spacingMs, nowMs));
  }
  return nowMs;
}

describe('N7 the pace of a site that minds', () => {
  it('begins with a second and is nothing after half a minute of good answers', () => {
    const pace = new SitePace(0);
    expect(pace.spacingMs).toBe(FIRST_SPACING_MS);
    crawlWell(pace, 40);
    expect(pace.spacingMs).toBe(0);
  });

  it('goes above the rest that was too short, and back to just above it', () => {
    const pace = new SitePace(0);
    pace.refused(after(2000, 1000));
    expect(pace).toMatchObject({ spacingMs: 2400, brinkMs: 2000 });
    crawlWell(pace, 15, 1000);
    expect(pace.spacingMs).toBeGreaterThan(2000);
    expect(pace.spacingMs).toBeLessThanOrEqual(2000 * 1.07);
  });

  it('looks below the brink ever more seldom when it finds it there again', () => {
    const looks: number[] = [];
    const pace = new SitePace(0);
    let nowMs = 0;
    for (let look = 0; look < 4; look++) {
      const fromMs = nowMs;
      pace.refused(after(2000, nowMs));
      while (pace.spacingMs > 2000) nowMs = crawlWell(pace, 1, nowMs);
      looks.push(nowMs - fromMs);
    }
    expect(looks[3]).toBeGreaterThan((looks[0] ?? 0) * 1.5);
  });

  it('learns nothing from what was under way when it was widened', () => {
    const pace = new SitePace(0);
    pace.refused(after(2000, 0));
    for (let n = 0; n < 20; n++) pace.refused(after(2000, n));
    expect(pace.spacingMs).toBe(2400);
  });

  it('a good answer after a longer rest than asked says nothing about less', () => {
    const pace = new SitePace(0);
    pace.good(after(5000, 60_000));
    expect(pace.spacingMs).toBe(FIRST_SPACING_MS);
  });

  it('doubles while nearly everything is refused, as far as the longest rest', () => {
    const pace = new SitePace(0);
    let nowMs = 0;
    for (let n = 0; n < 40; n++) pace.refused(after(pace.spacingMs, (nowMs += pace.spacingMs)));
    expect(pace.spacingMs).toBe(MAX_SPACING_MS);
  });

  it('searches again when a site that minded nothing begins to mind', () => {
    const pace = new SitePace(0);
    const nowMs = crawlWell(pace, 60);
    pace.refused(after(0, nowMs));
    expect(pace.spacingMs).toBe(100);
  });

  it('an exit of its own mind is measured by its own factor', () => {
    const pace = new SitePace(0);
    pace.refused(after(2000, 0, { factor: 2 }));
    expect(pace.brinkMs).toBe(1000);
  });

  it('counts what was before: a rest that was just made longer is no brink', () => {
    const pace = new SitePace(0);
    pace.refused(after(3000, 0, { meanRestMs: 1200 }));
    expect(pace).toMatchObject({ brinkMs: 1200, spacingMs: 3600 });
  });
});

describe('N7 scouts go ahead', () => {
  const scout = (
    pace: SitePace,
    restMs: number,
    nowMs: number,
    changes: Partial<PacedAnswer> = {},
  ): PacedAnswer => after(restMs, nowMs, { haste: pace.haste, ...changes });
  const led = { isLed: true };

  it('three times as fast, until one is refused: then all others rest twice as long as they did', () => {
    const pace = new SitePace(0);
    expect(pace.haste).toBe(3);
    for (let n = 1; n < 50; n++) pace.good(after(1500, n * 10, led));
    expect(pace.spacingMs).toBe(FIRST_SPACING_MS);
    pace.refused(scout(pace, 500, 1000));
    expect([pace.spacingMs, pace.brinkMs]).toEqual([expect.closeTo(3300), 500]);
    expect(pace.haste).toBeCloseTo(1.5);
  });

  it('come down to the brink, and others stay just behind, though it is looked for again and again', () => {
    const pace = new SitePace(0);
    let nowMs = 1000;
    pace.refused(scout(pace, 1000, nowMs));
    const looks: number[] = [];
    while (nowMs < 1_200_000) {
      nowMs += 250;
      const restMs = pace.spacingMs / pace.haste;
      if (restMs >= 2000) pace.good(scout(pace, restMs, nowMs));
      else {
        pace.refused(scout(pace, restMs, nowMs));
        looks.push(nowMs);
      }
      if (nowMs > 100_000) expect(pace.spacingMs).toBeGreaterThan(2000);
    }
    expect(pace.spacingMs).toBeLessThan(2000 * 1.06);
    expect(looks.length).toBeLessThan(30);
  });

  it('those refused together confirm it once', () => {
    const pace = new SitePace(0);
    pace.refused(scout(pace, 1000, 0));
    const restMs = pace.spacingMs / pace.haste;
    for (let n = 0; n < 8; n++) pace.refused(scout(pace, restMs, 20_000 + n));
    expect(pace.spacingMs).toBeGreaterThan(pace.brinkMs * 1.1);
  });

  it('one behind them that was used more often before says no more than they did', () => {
    const pace = new SitePace(0);
    pace.refused(scout(pace, 1000, 0));
    const { spacingMs } = pace;
    pace.refused(after(spacingMs, 5000, { ...led, meanRestMs: 900 }));
    expect(pace).toMatchObject({ spacingMs, brinkMs: 1000 });
    pace.refused(after(spacingMs, 6000, { ...led, meanRestMs: spacingMs }));
    expect(pace.spacingMs).toBeGreaterThan(spacingMs);
  });

  it('a brink that is not there any more is left behind', () => {
    const pace = new SitePace(0);
    pace.refused(scout(pace, 4000, 0));
    let nowMs = 0;
    while (nowMs < 900_000) pace.good(scout(pace, pace.spacingMs / pace.haste, (nowMs += 1000)));
    expect(pace.spacingMs).toBeLessThan(1000);
  });
});

describe('a site that refuses by chance', () => {
  it('is not slowed down: after a while refusals are taken for chance, and later tested again', () => {
    const pace = new SitePace(0);
    let nowMs = 0;
    let n = 0;
    for (; !pace.isChance(nowMs) && n < 20_000; n++) {
      nowMs += Math.max(1, pace.spacingMs / 20);
      const answer = after(pace.spacingMs, nowMs);
      if (n % 10 === 0) pace.refused(answer);
      else pace.good(answer);
    }
    expect(pace.isChance(nowMs)).toBe(true);
    expect(pace.spacingMs).toBeLessThanOrEqual(FIRST_SPACING_MS * 1.1);
    const heldMs = pace.spacingMs;
    pace.refused(after(heldMs, nowMs + 1000));
    expect(pace.spacingMs).toBe(heldMs);
    expect(pace.isChance(nowMs + 600_001)).toBe(false);
  });
});

it('whatever happens, spacing stays within its bounds and a brink below it is remembered', () => {
  const step = fc.record({
    isGood: fc.boolean(),
    restMs: fc.integer({ min: 0, max: 1_000_000 }),
    factor: fc.double({ min: 1, max: 8, noNaN: true }),
    passedMs: fc.integer({ min: 0, max: 100_000 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const pace = new SitePace(0);
      let nowMs = 0;
      for (const { isGood, restMs, factor, passedMs } of steps) {
        const beforeMs = pace.spacingMs;
        const answer = after(restMs, (nowMs += passedMs), { factor });
        if (isGood) pace.good(answer);
        else pace.refused(answer);
        expect(pace.spacingMs === 0 || pace.spacingMs >= LEAST_SPACING_MS).toBe(true);
        expect(pace.spacingMs).toBeLessThanOrEqual(MAX_SPACING_MS);
        if (isGood) expect(pace.spacingMs).toBeLessThanOrEqual(beforeMs);
      }
    }),
  );
});
