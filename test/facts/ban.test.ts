import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CLEAR,
  TRIAL_MS,
  admitted,
  banMs,
  banTransitions,
  isAdmitting,
  forgiven,
  isAside,
  lifted,
  mostAfterReturn,
  noBan,
  opensAtMs,
  phaseOf,
  returned,
  siteTimes,
  struck,
  succeeded,
  transportTimes,
  trialReleased,
  triedElsewhere,
  type BanPhase,
  type BanState,
} from '../../src/facts/ban.js';

const BASE_MS = 30_000;
const hour = 3_600_000;

function strikeAt(nowMs: number, state: BanState = noBan, forMs = BASE_MS): BanState {
  return struck(state, forMs, { reason: 'test', nowMs });
}

describe('banMs', () => {
  const times = { baseMs: hour, capMs: 24 * hour, jitter: 0.2 };

  it('S5 doubles with each strike up to the cap', () => {
    const hours = [1, 2, 3, 4, 5, 6, 7, 40, 1e6].map((strikes) => banMs(strikes, times, 0) / hour);
    expect(hours).toEqual([1, 2, 4, 8, 16, 24, 24, 24, 24]);
  });

  it('B10 chance only makes it longer, by a fifth at most', () => {
    expect(banMs(1, times, 0.5)).toBe(hour * 1.1);
    expect(banMs(9, times, 0.999_999)).toBeLessThan(24 * hour * 1.2);
  });
});

describe('a ban through its life', () => {
  const out = strikeAt(1000);

  it('is out until its time, then half-open for one trial at a time', () => {
    expect(phaseOf(out, 30_999)).toBe('out');
    expect(phaseOf(out, 31_000)).toBe('half_open');
    const trial = admitted(out, 31_000);
    expect(phaseOf(trial, 31_001)).toBe('trial');
    expect([out, trial].map((state) => isAdmitting(state, 31_001))).toEqual([true, false]);
    expect(admitted(trial, 32_000)).toBe(trial);
  });

  it('a trial without a word lapses, or is released', () => {
    const trial = admitted(out, 31_000);
    expect(phaseOf(trial, 31_000 + TRIAL_MS)).toBe('half_open');
    expect(phaseOf(trialReleased(trial), 31_001)).toBe('half_open');
    expect(trialReleased(out)).toBe(out);
  });

  it('a good trial ends it and keeps the strikes; a bad one doubles it', () => {
    const trial = admitted(out, 31_000);
    expect(succeeded(trial, BASE_MS, 31_500)).toMatchObject({ strikes: 1, untilMs: CLEAR });
    expect(strikeAt(31_500, trial)).toMatchObject({ strikes: 2, untilMs: 61_500 });
  });

  it('comes back slowly: one request at once, twice as many every five seconds', () => {
    const back = succeeded(admitted(out, 31_000), BASE_MS, 40_000);
    const at = [40_000, 44_999, 45_000, 50_000, 69_999, 70_000].map((ms) => mostAfterReturn(back, ms));
    expect(at).toEqual([1, 1, 2, 4, 32, Infinity]);
    expect([mostAfterReturn(noBan, 0), mostAfterReturn(strikeAt(41_000, back), 41_000)]).toEqual([
      Infinity,
      Infinity,
    ]);
  });

  it('ends before its time when it is lifted, and loses its strike when it is forgiven', () => {
    expect(lifted(out)).toMatchObject({ untilMs: CLEAR, strikes: 1 });
    expect(forgiven(out, 2000)).toMatchObject({ untilMs: CLEAR, strikes: 0, changedMs: 2000 });
    expect(forgiven(noBan, 2000).strikes).toBe(0);
  });

  it('a success from before the ban changes nothing', () => {
    expect(succeeded(out, BASE_MS, 2000)).toBe(out);
  });

  it('strikes decay with successes, one each base time', () => {
    const back = succeeded(strikeAt(31_000, out), BASE_MS, 100_000);
    expect(back.strikes).toBe(2);
    expect(succeeded(back, BASE_MS, 100_001)).toBe(back);
    const less = succeeded(back, BASE_MS, 130_000);
    expect(less.strikes).toBe(1);
    expect(succeeded(less, BASE_MS, 160_000).strikes).toBe(0);
    expect(succeeded(noBan, BASE_MS, 0)).toBe(noBan);
  });

  it('says when it opens, and whether it is on', () => {
    expect(opensAtMs(out)).toBe(31_000);
    expect(opensAtMs(admitted(out, 40_000))).toBe(41_000);
    expect([isAside(noBan), isAside(out)]).toEqual([false, true]);
  });
});

describe('the functions do what the table says', () => {
  it('over 10,000 random lives', () => {
    const step = fc.record({
      event: fc.constantFrom('failure' as const, 'success' as const, 'admit' as const),
      waitMs: fc.constantFrom(0, 1000, BASE_MS, TRIAL_MS),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let state = noBan;
        let nowMs = 0;
        for (const { event, waitMs } of steps) {
          nowMs += waitMs;
          const expected: BanPhase = banTransitions[phaseOf(state, nowMs)][event];
          if (event === 'failure') state = strikeAt(nowMs, state, banMs(state.strikes + 1, limits, 0.5));
          else state = event === 'success' ? succeeded(state, BASE_MS, nowMs) : admitted(state, nowMs);
          expect(phaseOf(state, nowMs)).toBe(expected);
          expect(state.strikes).toBeGreaterThanOrEqual(0);
        }
      }),
      { numRuns: 10_000 },
    );
  });

  const limits = { baseMs: BASE_MS, capMs: hour, jitter: 0.2 };
});

describe('S4 a trial of another gateway', () => {
  const out = struck(noBan, 1000, { reason: 'x', nowMs: 0 });

  it('leaves the ban on for a moment, after which this one may ask again', () => {
    const tried = triedElsewhere(admitted(out, 1000), 2000);
    expect([phaseOf(tried, 1999), phaseOf(tried, 2000), opensAtMs(tried)]).toEqual([
      'out',
      'half_open',
      2000,
    ]);
    expect(triedElsewhere(admitted(out, 1000), 500).untilMs).toBe(1000);
    expect(triedElsewhere(out, 2000)).toBe(out);
  });

  it('that went well brings it back slowly, with its strikes', () => {
    const back = returned(out, 5000);
    expect([phaseOf(back, 5000), back.strikes, mostAfterReturn(back, 5000)]).toEqual(['clear', 1, 1]);
  });
});

describe('times from the rules', () => {
  it('are kept apart for sites and for the way', () => {
    const rules = {
      siteMs: 1,
      siteCapMs: 2,
      transportMs: 3,
      transportCapMs: 4,
      jitter: 0.1,
      maxEjected: 0.5,
      suspectCount: 2,
      suspectWindowMs: 5,
    };
    expect(siteTimes(rules)).toEqual({ baseMs: 1, capMs: 2, jitter: 0.1 });
    expect(transportTimes(rules)).toEqual({ baseMs: 3, capMs: 4, jitter: 0.1 });
  });
});
