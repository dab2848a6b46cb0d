/** What every implementation of `Turns` must do. Call it once for each. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { Turn, Turns } from '../../src/state/ports.js';
import type { MakeStore, UnderTest } from './under-test.js';

const HOLD_MS = 60_000;

/** Registers the suite for one implementation. */
export function turnsContract(name: string, make: MakeStore<Turns>): void {
  describe(`Turns: ${name}`, () => {
    let turns: Turns;
    let passMs: UnderTest<Turns>['passMs'];
    beforeEach(async () => {
      ({ store: turns, passMs } = await make());
    });
    const taken = async (key: string): Promise<Turn> => {
      const answer = await turns.take(key, HOLD_MS);
      if (answer.kind !== 'taken') throw new Error(`the turn is ${answer.kind}`);
      return answer.turn;
    };
    const within = (kind: string, mostMs: number): unknown => ({
      kind,
      waitMs: expect.toSatisfy((ms: number) => ms <= mostMs && ms > mostMs - 5000) as number,
    });

    it('N7 of a hundred who ask at once one gets the turn, and the others hear how long it may last', async () => {
      const all = await Promise.all(Array.from({ length: 100 }, () => turns.take('k', HOLD_MS)));
      expect(all.filter(({ kind }) => kind === 'taken')).toHaveLength(1);
      expect(all.find(({ kind }) => kind !== 'taken')).toEqual(within('busy', HOLD_MS));
      expect(await turns.take('another', HOLD_MS)).toMatchObject({ kind: 'taken' });
    });

    it('N7 a turn that ended rests, and is free after that', async () => {
      expect(await turns.end(await taken('k'), 20_000)).toBe(true);
      expect(await turns.take('k', HOLD_MS)).toEqual(within('resting', 20_000));
      await passMs(14_000);
      expect(await turns.take('k', HOLD_MS)).toEqual(within('resting', 6000));
      await passMs(6001);
      await taken('k');
    });

    it('N7 one that ended without a rest is free at once', async () => {
      expect(await turns.end(await taken('k'), 0)).toBe(true);
      await taken('k');
    });

    it('S4 a crash frees after the time, and whoever was asleep takes nothing from the next', async () => {
      const asleep = await taken('k');
      await passMs(HOLD_MS + 1);
      const next = await taken('k');
      expect(await turns.end(asleep, 0)).toBe(false);
      expect(await turns.take('k', HOLD_MS)).toMatchObject({ kind: 'busy' });
      expect(await turns.end(next, 1000)).toBe(true);
      expect(await turns.end(next, 1_000_000)).toBe(false);
    });

    it('N7 one that took longer than its time rests all the same, where nobody came after', async () => {
      const late = await taken('k');
      await passMs(HOLD_MS + 1);
      expect(await turns.end(late, 20_000)).toBe(true);
      expect(await turns.take('k', HOLD_MS)).toEqual(within('resting', 20_000));
    });
  });
}
