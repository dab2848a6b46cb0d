/** What every implementation of `Leases` must do. Call it once for each. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Lease, LeaseAsk, Leases } from '../../src/state/ports.js';
import { isFencedOff } from '../../src/facts/lease.js';
import type { MakeStore, UnderTest } from './under-test.js';

const TTL_MS = 30_000;

/** Registers the suite for one implementation. */
export function leasesContract(name: string, make: MakeStore<Leases>): void {
  describe(`Leases: ${name}`, () => {
    let leases: Leases;
    let passMs: UnderTest<Leases>['passMs'];
    beforeEach(async () => {
      ({ store: leases, passMs } = await make());
    });
    const ask = (candidates: string[], changes: Partial<LeaseAsk> = {}): LeaseAsk => ({
      ...{ pool: 'p {x}', candidates, ttlMs: TTL_MS, slots: 1 },
      ...changes,
    });
    const got = async (asked: LeaseAsk): Promise<Lease> => {
      const lease = await leases.acquire(asked);
      if (lease === null) throw new Error('no lease');
      return lease;
    };

    it('S2 gives an exclusive exit to one, and the next candidate to the next', async () => {
      const first = await got(ask(['u-a']));
      expect(first).toMatchObject({ pool: 'p {x}', exit: 'u-a' });
      expect(await leases.acquire(ask(['u-a']))).toBeNull();
      expect(await got(ask(['u-a', 'u-b', 'u-c']))).not.toMatchObject({ exit: 'u-a' });
      expect(await got(ask(['u-a'], { pool: 'another' }))).toMatchObject({ exit: 'u-a' });
    });

    it('S2 of a hundred who ask at once for eight exits eight get one, each another', async () => {
      const exits = Array.from({ length: 8 }, (_, n) => `u-${n}`);
      const all = await Promise.all(Array.from({ length: 100 }, () => leases.acquire(ask(exits))));
      const given = all.filter((lease) => lease !== null);
      expect(given.map(({ exit }) => exit).sort()).toEqual(exits);
      expect(new Set(given.map(({ id }) => id)).size).toBe(8);
    });

    it('S2 looks at eight candidates and no more', async () => {
      const exits = Array.from({ length: 9 }, (_, n) => `u-${n}`);
      for (let n = 0; n < 8; n++) await got(ask(exits));
      expect(await leases.acquire(ask(exits))).toBeNull();
    });

    it('S2 an exit with slots has as many leases', async () => {
      for (let n = 0; n < 3; n++) await got(ask(['u-a'], { slots: 3 }));
      expect(await leases.acquire(ask(['u-a'], { slots: 3 }))).toBeNull();
    });

    it('S2 a lease that is given back is free, and giving it back twice frees nobody else', async () => {
      const first = await got(ask(['u-a']));
      expect(await leases.release([first])).toEqual([true]);
      const second = await got(ask(['u-a']));
      expect(await leases.release([first])).toEqual([false]);
      expect(await leases.acquire(ask(['u-a']))).toBeNull();
      expect(isFencedOff(first, second)).toBe(true);
      expect(isFencedOff(second, second)).toBe(false);
    });

    it('S2 a crash frees after the time, and whoever was asleep is refused', async () => {
      const asleep = await got(ask(['u-a']));
      await passMs(TTL_MS + 1);
      const next = await got(ask(['u-a']));
      expect(isFencedOff(asleep, next)).toBe(true);
      expect(await leases.renew([asleep], TTL_MS)).toEqual([false]);
      expect(await leases.release([asleep])).toEqual([false]);
      expect(await leases.renew([next], TTL_MS)).toEqual([true]);
    });

    it('S2 a holder that was asleep is refused also where nobody came after', async () => {
      const asleep = await got(ask(['u-a']));
      await passMs(TTL_MS + 1);
      expect(await leases.renew([asleep], TTL_MS)).toEqual([false]);
    });

    it('S2 beside a lease that lasts one that ran out is over, and its slot free', async () => {
      const two = { slots: 2 };
      const short = await got(ask(['u-a'], { ...two, ttlMs: 1000 }));
      await got(ask(['u-a'], two));
      await passMs(1001);
      expect(await leases.renew([short], TTL_MS)).toEqual([false]);
      expect(await leases.release([short])).toEqual([false]);
      await got(ask(['u-a'], two));
      expect(await leases.acquire(ask(['u-a'], two))).toBeNull();
    });

    it('S2 renewing keeps a lease, many at once and each by its own right', async () => {
      const held = [
        await got(ask(['u-a'])),
        await got(ask(['u-b'])),
        await got(ask(['u-c'], { ttlMs: 1000 })),
      ];
      await passMs(20_000);
      expect(await leases.renew(held, TTL_MS)).toEqual([true, true, false]);
      await passMs(20_000);
      expect(await leases.acquire(ask(['u-a']))).toBeNull();
      expect(await leases.release(held)).toEqual([true, true, false]);
    });

    it('N7 tells the next holder when the last use of an exit was, as long as it is to be remembered', async () => {
      const keep = { keepMs: 60_000 };
      const first = await got(ask(['u-a'], keep));
      expect(first.usedAgoMs).toBeNull();
      await passMs(5000);
      expect(await leases.release([first], [2000])).toEqual([true]);
      await passMs(10_000);
      const second = await got(ask(['u-a'], keep));
      expect(second.usedAgoMs).toSatisfy((ms: number) => ms >= 12_000 && ms < 20_000);
      expect(await leases.release([second], [70_000])).toEqual([true]);
      const third = await got(ask(['u-a'], keep));
      expect(third.usedAgoMs).toSatisfy((ms: number | null) => ms === null || ms >= 12_000);
      expect(await leases.acquire(ask(['u-a'], keep))).toBeNull();
    });

    it('N7 a holder that crashed may have used it until its time was over', async () => {
      const keep = { keepMs: 60_000 };
      await leases.renew([await got(ask(['u-a'], keep))], TTL_MS);
      await passMs(TTL_MS + 10_000);
      expect((await got(ask(['u-a'], keep))).usedAgoMs).toSatisfy(
        (ms: number) => ms >= 10_000 && ms < 20_000,
      );
      await passMs(TTL_MS + 60_001);
      expect((await got(ask(['u-a'], keep))).usedAgoMs).toBeNull();
    });

    it('S2 a forged fence or epoch is refused', async () => {
      const lease = await got(ask(['u-a']));
      const forged = [
        { ...lease, fence: lease.fence + 1 },
        { ...lease, epoch: 'e' },
        { ...lease, id: '0'.repeat(32) },
      ];
      expect(await leases.renew(forged, TTL_MS)).toEqual([false, false, false]);
      expect(await leases.release(forged)).toEqual([false, false, false]);
    });
  });
}
