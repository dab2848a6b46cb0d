/** What every implementation of `Limits` must do. Call it once for each. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { LimitPick, LimitPicked, Limits } from '../../src/state/ports.js';
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

    const ask: LimitPick = { group: 'policy', rate, candidates: ['a', 'b'], each: { ...rate, count: 4 } };
    const pickMany = async (count: number, what = ask) => {
      const picked = await Promise.all(Array.from({ length: count }, () => limits.pick(what)));
      return picked.map((each) => (each.kind === 'picked' ? each.hold.candidate : each.which));
    };

    it('K3 picks the first candidate that has any left, and says which rate is used up', async () => {
      const got = await pickMany(9);
      expect(got.filter((each) => each === 'a')).toHaveLength(4);
      expect(got.filter((each) => each === 'b')).toHaveLength(4);
      expect(got.filter((each) => each === 'candidates')).toHaveLength(1);
      // What was not picked cost nothing in common.
      expect((await pickMany(3, { ...ask, candidates: ['c'] })).sort()).toEqual(['c', 'c', 'group']);
    });

    it('K3 says how long to wait for a pick', async () => {
      await pickMany(8);
      const own = await limits.pick(ask);
      expect(own).toMatchObject({ kind: 'limited', which: 'candidates' });
      expect(waitsOf(own).map((ms) => Math.round(ms / 100_000))).toEqual([90, 90]);
      const third = await limits.pick({ ...ask, candidates: ['b', 'c'] });
      expect(third).toMatchObject({ kind: 'picked', hold: { candidate: 'c' } });
      expect(waitsOf(third).map((ms) => Math.round(ms / 100_000))).toEqual([90]);
      await pickMany(1, { ...ask, candidates: ['c'] });
      const common = await limits.pick(ask);
      const waitMs = 'retryAfterMs' in common ? common.retryAfterMs : 0;
      expect(common).toMatchObject({ kind: 'limited', which: 'group' });
      expect(waitMs).toBeGreaterThan(3_500_000);
      expect(waitMs).toBeLessThanOrEqual(3_600_000);
    });

    it('K3 gives back all or a part of what was picked', async () => {
      const first = await limits.pick(ask);
      if (first.kind !== 'picked') throw new Error('a first pick is never limited');
      await pickMany(7);
      await limits.putBack(first.hold);
      expect((await pickMany(2)).sort()).toEqual(['a', 'candidates']);
      await limits.putBack({ ...first.hold, rate: null });
      expect(await pickMany(1)).toEqual(['a']);
      expect((await pickMany(2, { ...ask, candidates: ['c'] })).sort()).toEqual(['c', 'group']);
    });

    it('K3 what is given back twice is no more than a whole burst', async () => {
      const first = await limits.pick(ask);
      if (first.kind !== 'picked') throw new Error('a first pick is never limited');
      for (let n = 0; n < 3; n++) await limits.putBack(first.hold);
      expect((await pickMany(6, { ...ask, candidates: ['a'] })).filter((each) => each === 'a')).toHaveLength(
        4,
      );
    });

    it('K3 picks by one rate, or by none', async () => {
      expect(await pickMany(2, { ...ask, each: null })).toEqual(['a', 'a']);
      expect((await pickMany(5, { ...ask, rate: null })).sort()).toEqual(['a', 'a', 'a', 'a', 'b']);
      expect(await pickMany(1, { ...ask, rate: null, each: null })).toEqual(['a']);
    });

    it('K3 keeps groups apart', async () => {
      await pickMany(8);
      expect(await pickMany(1, { ...ask, group: 'other' })).toEqual(['a']);
    });
  });
}

const waitsOf = (picked: LimitPicked): readonly number[] => ('waits' in picked ? picked.waits : []);
