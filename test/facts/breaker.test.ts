import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakerAfter, probeAfterMs, untried } from '../../src/facts/breaker.js';
import type { BreakerState, StoreOutcome } from '../../src/facts/breaker.js';

const after = (outcomes: readonly StoreOutcome[], from: BreakerState = untried): boolean =>
  outcomes.reduce(breakerAfter, from).isOpen;

describe('breaker', () => {
  it('S3 a first good word closes it', () => {
    expect(untried.isOpen).toBe(true);
    expect(after(['good'])).toBe(false);
    expect(after(['broken', 'good'])).toBe(true);
  });

  it('S3 three timeouts in a row open it, two do not', () => {
    expect(after(['good', 'timeout', 'timeout'])).toBe(false);
    expect(after(['good', 'timeout', 'timeout', 'good', 'timeout', 'timeout'])).toBe(false);
    expect(after(['good', 'timeout', 'timeout', 'timeout'])).toBe(true);
  });

  it('S3 what is broken opens it at once', () => {
    expect(after(['good', 'broken'])).toBe(true);
  });

  it('S3 two good probes in a row close it', () => {
    expect(after(['good', 'broken', 'good'])).toBe(true);
    expect(after(['good', 'broken', 'good', 'timeout', 'good'])).toBe(true);
    expect(after(['good', 'broken', 'good', 'good'])).toBe(false);
  });

  it('S3 is open after any history that ends badly, closed after any that ends well', () => {
    const outcome = fc.constantFrom<StoreOutcome>('good', 'timeout', 'broken');
    fc.assert(
      fc.property(fc.array(outcome), (history) => {
        expect(after([...history, 'broken'])).toBe(true);
        expect(after([...history, 'timeout', 'timeout', 'timeout'])).toBe(true);
        expect(after([...history, 'good', 'good'])).toBe(false);
      }),
    );
  });

  it('S3 probes about twice a second', () => {
    expect([probeAfterMs(0), probeAfterMs(0.5), probeAfterMs(1)]).toEqual([400, 500, 600]);
  });
});
