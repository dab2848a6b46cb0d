/** What every implementation of `Pins` must do. Call it once for each. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Pins } from '../../src/state/ports.js';
import type { MakeStore, UnderTest } from './under-test.js';

const TTL_MS = 600_000;

/** Registers the suite for one implementation. */
export function pinsContract(name: string, make: MakeStore<Pins>): void {
  describe(`Pins: ${name}`, () => {
    let pins: Pins;
    let passMs: UnderTest<Pins>['passMs'];
    beforeEach(async () => {
      ({ store: pins, passMs } = await make());
    });

    it('G4 has no pin for a session it never saw', async () => {
      expect(await pins.find('k', TTL_MS)).toBeNull();
    });

    it('G4 keeps a session on its exit', async () => {
      expect(await pins.bind('k', 'u-a', TTL_MS)).toEqual({ exit: 'u-a', generation: 1 });
      expect(await pins.find('k', TTL_MS)).toEqual({ exit: 'u-a', generation: 1 });
      expect(await pins.find('other', TTL_MS)).toBeNull();
    });

    it('S6 the first write wins: a second bind gets the first exit', async () => {
      await pins.bind('k', 'u-a', TTL_MS);
      expect(await pins.bind('k', 'u-b', TTL_MS)).toEqual({ exit: 'u-a', generation: 1 });
    });

    it('S6 K02 a hundred first requests at once end on one exit', async () => {
      const exits = Array.from({ length: 100 }, (_, n) => `u-${n}`);
      const found = await Promise.all(exits.map((exit) => pins.bind('k', exit, TTL_MS)));
      expect(new Set(found.map(({ exit, generation }) => `${exit} ${generation}`)).size).toBe(1);
      expect(await pins.find('k', TTL_MS)).toEqual(found[0]);
    });

    it('S6 a pin ends with its time, and time slides with use', async () => {
      await pins.bind('k', 'u-a', 1000);
      await passMs(900);
      expect(await pins.find('k', 1000)).not.toBeNull();
      await passMs(900);
      expect(await pins.bind('k', 'u-b', 1000)).toEqual({ exit: 'u-a', generation: 1 });
      await passMs(1501);
      expect(await pins.find('k', 1000)).toBeNull();
      expect(await pins.bind('k', 'u-b', 1000)).toEqual({ exit: 'u-b', generation: 1 });
    });

    it('N6 moves a session, and its generation grows', async () => {
      const first = await pins.bind('k', 'u-a', TTL_MS);
      const moved = await pins.move('k', first, { exit: 'u-b', ttlMs: TTL_MS });
      expect(moved).toEqual({ exit: 'u-b', generation: 2 });
      expect(await pins.find('k', TTL_MS)).toEqual(moved);
    });

    it('N6 a move from where the session no longer is changes nothing', async () => {
      const first = await pins.bind('k', 'u-a', TTL_MS);
      const second = await pins.move('k', first, { exit: 'u-b', ttlMs: TTL_MS });
      expect(await pins.move('k', first, { exit: 'u-c', ttlMs: TTL_MS })).toEqual(second);
      const back = await pins.move('k', second, { exit: 'u-a', ttlMs: TTL_MS });
      expect(back).toEqual({ exit: 'u-a', generation: 3 });
      expect(await pins.move('k', first, { exit: 'u-c', ttlMs: TTL_MS })).toEqual(back);
    });

    it('N6 of many moves at once one happens', async () => {
      const first = await pins.bind('k', 'u-a', TTL_MS);
      const moves = Array.from({ length: 50 }, (_, n) =>
        pins.move('k', first, { exit: `u-${n}`, ttlMs: TTL_MS }),
      );
      const found = await Promise.all(moves);
      expect(new Set(found.map(({ exit }) => exit)).size).toBe(1);
      expect(found[0]?.generation).toBe(2);
    });

    it('N6 a move of a session that ran out meanwhile goes on counting', async () => {
      const first = await pins.bind('k', 'u-a', 1000);
      await passMs(1501);
      const moved = await pins.move('k', first, { exit: 'u-b', ttlMs: 1000 });
      expect(moved).toEqual({ exit: 'u-b', generation: 2 });
    });

    it('a move refreshes the time', async () => {
      const first = await pins.bind('k', 'u-a', 1000);
      await passMs(900);
      await pins.move('k', first, { exit: 'u-b', ttlMs: 1000 });
      await passMs(900);
      expect(await pins.find('k', 1000)).toMatchObject({ exit: 'u-b' });
    });

    it('forgets a session that is dropped', async () => {
      await pins.bind('k', 'u-a', TTL_MS);
      await pins.drop('k');
      await pins.drop('never seen');
      expect(await pins.find('k', TTL_MS)).toBeNull();
    });

    it('takes any text as a key', async () => {
      const keys = ['', '__proto__', 'a:b', '\u0000', '☃', 'x'.repeat(300)];
      await Promise.all(keys.map((key, n) => pins.bind(key, `u-${n}`, TTL_MS)));
      const found = await Promise.all(keys.map(async (key) => pins.find(key, TTL_MS)));
      expect(found.map((pin) => pin?.exit)).toEqual(keys.map((_, n) => `u-${n}`));
    });

    it('N14 counts the live pins of exits, and lists them in order, page by page', async () => {
      for (const [key, exit] of [
        ['1:b:s1', 'u-a'],
        ['1:a:s2', 'u-b'],
        ['1:a:s1', 'u-a'],
      ] as const)
        await pins.bind(key, exit, TTL_MS);
      await pins.bind('1:c:short', 'u-a', 1000);
      await passMs(2000);
      const counts = await pins.countOn(new Set(['u-a', 'u-none']));
      expect([...counts]).toEqual([['u-a', 2]]);
      const all = { after: null, limit: 10, client: null, exit: null };
      const keys = async (changes: object): Promise<string[]> =>
        (await pins.list({ ...all, ...changes })).map(({ key }) => key);
      expect(await keys({})).toEqual(['1:a:s1', '1:a:s2', '1:b:s1']);
      expect(await keys({ limit: 2 })).toEqual(['1:a:s1', '1:a:s2']);
      expect(await keys({ limit: 2, after: '1:a:s2' })).toEqual(['1:b:s1']);
      expect(await keys({ client: 'a' })).toEqual(['1:a:s1', '1:a:s2']);
      expect(await keys({ exit: 'u-b' })).toEqual(['1:a:s2']);
      const [first] = await pins.list(all);
      expect(first).toMatchObject({ pin: { exit: 'u-a', generation: 1 } });
      expect(first?.leftMs).toBeGreaterThan(TTL_MS - 10_000);
    });

    it('says whether there was a session to forget', async () => {
      await pins.bind('k', 'u-a', TTL_MS);
      expect([await pins.drop('k'), await pins.drop('k')]).toEqual([true, false]);
    });
  });
}
