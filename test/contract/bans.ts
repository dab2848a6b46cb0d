/** What every implementation of `Bans` must do. Call it once for each. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Bans, SharedBan } from '../../src/state/ports.js';
import type { MakeStore, UnderTest } from './under-test.js';

/** How long words are remembered after the end of a ban, in stores under test. */
export const KEEP_MS = 3_600_000;

/** A word about a ban. */
export function banWord(changes: Partial<SharedBan> = {}): SharedBan {
  return {
    ...{ exit: 'u-a', site: 'shop.example', version: 1, leftMs: 60_000, strikes: 1, reason: 'status 403' },
    ...{ by: 'g1' },
    ...changes,
  };
}

/** Registers the suite for one implementation. */
export function bansContract(name: string, make: MakeStore<Bans>): void {
  describe(`Bans: ${name}`, () => {
    let bans: Bans;
    let passMs: UnderTest<Bans>['passMs'];
    beforeEach(async () => {
      ({ store: bans, passMs } = await make());
    });
    const all = async (): Promise<readonly SharedBan[]> => (await bans.changes(null)).bans;
    const about = (left: number, words: Partial<SharedBan>): Partial<SharedBan> => ({
      ...words,
      leftMs: expect.toSatisfy((ms: number) => ms <= left && ms > left - 5000) as number,
    });

    it('S4 knows nothing at first', async () => {
      expect(await bans.changes(null)).toMatchObject({ bans: [], isWhole: true });
    });

    it('S4 tells of bans for a site and of bans for all, with the time they have left', async () => {
      const everywhere = banWord({ exit: 'u-b', site: null, reason: 'größer | odd' });
      expect(await bans.put(banWord())).toEqual(banWord());
      await bans.put(everywhere);
      await passMs(20_000);
      const found = [...(await all())].sort((a, b) => (a.exit < b.exit ? -1 : 1));
      expect(found).toEqual([about(40_000, banWord()), about(40_000, everywhere)]);
    });

    it('S4 tells only what is new since a cursor', async () => {
      await bans.put(banWord());
      const first = await bans.changes(null);
      for (let n = 0; n < 40; n++) await bans.put(banWord({ exit: `u-${n}` }));
      const { bans: seen, cursor, isWhole } = await bans.changes(first.cursor);
      expect(isWhole).toBe(false);
      expect(seen.map(({ exit }) => exit)).toEqual(expect.arrayContaining(['u-0', 'u-39']));
      const again = await bans.changes(cursor);
      expect(again.bans.length).toBeLessThan(41);
      await bans.put(banWord({ version: 2 }));
      expect((await bans.changes(again.cursor)).bans).toContainEqual(about(60_000, banWord({ version: 2 })));
    });

    it('S4 the later version holds, in whatever order words come', async () => {
      const lift = banWord({ version: 3, leftMs: 0 });
      await Promise.all([banWord({ version: 2 }), lift, banWord()].map((ban) => bans.put(ban)));
      expect(await all()).toEqual([about(0, lift)]);
      expect(await bans.put(banWord({ version: 2, by: 'g2' }))).toMatchObject({ version: 3, leftMs: 0 });
    });

    it('S4 of two words that knew nothing of each other the longer ban holds', async () => {
      const long = banWord({ by: 'g2', leftMs: 90_000 });
      await Promise.all([banWord(), long, banWord({ by: 'g3', leftMs: 0 })].map((ban) => bans.put(ban)));
      expect(await all()).toEqual([about(90_000, long)]);
    });

    it('D09 repeating a word changes nothing', async () => {
      await bans.put(banWord());
      const { cursor } = await bans.changes(null);
      await passMs(30_000);
      expect(await bans.put(banWord())).toEqual(about(30_000, banWord()));
      expect((await bans.changes(cursor)).bans).toSatisfy((found: SharedBan[]) =>
        found.every(({ leftMs }) => leftMs <= 30_000),
      );
    });

    it('S4 remembers a lift, and forgets all in the end', async () => {
      await bans.put(banWord({ leftMs: 1000 }));
      await bans.put(banWord({ version: 2, leftMs: 0 }));
      await passMs(KEEP_MS - 60_000);
      expect(await all()).toEqual([about(0, banWord({ version: 2 }))]);
      await passMs(120_000);
      expect(await all()).toEqual([]);
      expect(await bans.put(banWord())).toEqual(banWord());
    });

    it('S4 lets others hear words as they are said, until they have heard enough', async () => {
      const heard: SharedBan[] = [];
      let arrived = (): void => undefined;
      const stop = bans.listen((ban) => {
        heard.push(ban);
        arrived();
      });
      const arrival = new Promise<void>((resolve) => (arrived = resolve));
      await bans.put(banWord());
      await arrival;
      expect(heard).toEqual([banWord()]);
      stop();
      await bans.put(banWord({ version: 2 }));
      await bans.changes(null);
      expect(heard).toHaveLength(1);
    });
  });
}
