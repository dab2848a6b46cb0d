import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.js';
import { NearTurns } from '../../../src/state/fallback/turns.js';
import { MemoryTurns } from '../../../src/state/memory/turns.js';
import type { Turns } from '../../../src/state/ports.js';
import { turnsContract } from '../../contract/turns.js';
import { switched } from '../away.js';
import { ManualClock } from '../manual-clock.js';

function near(clock = new ManualClock(), isUp?: () => boolean) {
  const { store, way } = switched(new MemoryTurns(clock, seededRandom(1)));
  return { clock, way, turns: new NearTurns({ far: store, isUp: isUp ?? (() => way.isUp) }) };
}

turnsContract('near a store', () => {
  const { turns, clock } = near();
  return { store: turns, passMs: (ms) => clock.advance(ms) };
});

describe('NearTurns', () => {
  const take = async (turns: Turns) => {
    const answer = await turns.take('k', 1000);
    if (answer.kind !== 'taken') throw new Error('not taken');
    return answer.turn;
  };

  it('S3 while the store is away each gateway takes every turn, without a call', async () => {
    const { turns, way } = near();
    way.isUp = false;
    const first = await take(turns);
    await take(turns);
    expect(await turns.end(first, 1000)).toBe(true);
    expect(way.calls).toBe(0);
    expect(turns.counts).toEqual({ taken: 0, refused: 0, alone: 2 });
  });

  it('S3 a store that hangs at a call counts as away for it; what can’t be ended runs out by itself', async () => {
    const { turns, way } = near(new ManualClock(), () => true);
    const turn = await take(turns);
    way.isUp = false;
    expect(await turns.end(turn, 1000)).toBe(false);
    await take(turns);
    way.isUp = true;
    expect(await turns.take('k', 1000)).toMatchObject({ kind: 'busy' });
    expect(turns.counts).toEqual({ taken: 1, refused: 1, alone: 1 });
  });
});
