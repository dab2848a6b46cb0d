/** What every implementation of `Limits` must do. Call it once for each. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Limits } from '../../src/state/ports.js';
import type { MakeStore, UnderTest } from './under-test.js';

/** Registers the suite for one implementation. */
export function limitsContract(name: string, make: MakeStore<Limits>): void {
  describe(`Limits: ${name}`, () => {
    let limits: Limits;
    let passMs: UnderTest<Limits>['passMs'];
    beforeEach(async () => {
      ({ store: limits, passMs } = await make());
    });
    // So slow that the time a test takes gives nothing.
    const rate = { count: 10, perMs: 36_000_000 };

    it('S8 grants a burst and no more, and says how long to wait', async () => {
      const takes = await Promise.all(Array.from({ length: 15 }, () => limits.take('k', rate, 1)));
      expect(takes.filter(({ granted }) => granted === 1)).toHaveLength(10);
      const refused = takes.find(({ granted }) => granted === 0);
      expect(refused?.retryAfterMs).toBeGreaterThan(3_500_000);
      expect(refused?.retryAfterMs).toBeLessThanOrEqual(3_600_000);
    });

    it('S8 gives back one after the time of one', async () => {
      expect(await limits.take('k', rate, 10)).toEqual({ granted: 10, retryAfterMs: 0 });
      await passMs(3_600_000);
      expect(await limits.take('k', rate, 1)).toEqual({ granted: 1, retryAfterMs: 0 });
      expect(await limits.take('k', rate, 1)).toMatchObject({ granted: 0 });
    });

    it('S8 takes several at once, as many as there are', async () => {
      expect(await limits.take('k', rate, 7)).toMatchObject({ granted: 7 });
      expect(await limits.take('k', rate, 7)).toMatchObject({ granted: 3 });
      expect(await limits.take('k', rate, 7)).toMatchObject({ granted: 0 });
    });

    it('S8 keeps keys apart, and a burst that is not the count', async () => {
      await limits.take('k', rate, 10);
      expect(await limits.take('other', { ...rate, burst: 2 }, 10)).toMatchObject({ granted: 2 });
    });

    it('S8 a pause fills the burst and not more', async () => {
      await limits.take('k', rate, 10);
      await passMs(100 * rate.perMs);
      expect(await limits.take('k', rate, 50)).toMatchObject({ granted: 10 });
    });
  });
}
