import { describe, expect, it } from 'vitest';
import { NearLimits } from '../../../src/state/fallback/limits.js';
import { MemoryLimits } from '../../../src/state/memory/limits.js';
import { limitsContract } from '../../contract/limits.js';
import { switched } from '../away.js';
import { ManualClock } from '../manual-clock.js';

function near(clock = new ManualClock(), gateways = 1) {
  const { store, way } = switched(new MemoryLimits(clock));
  const limits = new NearLimits({ far: store, clock, isUp: () => way.isUp, gateways: () => gateways });
  return { clock, way, limits };
}

limitsContract('near a store', () => {
  const { limits, clock } = near();
  return { store: limits, passMs: (ms) => clock.advance(ms) };
});

describe('NearLimits', () => {
  const rate = { count: 1000, perMs: 60_000 };

  it('S8 a large rate costs a tenth of the calls, and grants exactly the rate', async () => {
    const { limits, way } = near();
    let granted = 0;
    for (let n = 0; n < 1500; n++) granted += (await limits.take('k', rate, 1)).granted;
    expect(granted).toBe(1000);
    expect(way.calls).toBe(100 + 500);
  });

  it('S8 what was taken and not used is lost soon', async () => {
    const { limits, clock, way } = near();
    await limits.take('k', rate, 1);
    clock.advance(1001);
    await limits.take('k', rate, 1);
    expect(way.calls).toBe(2);
  });

  it('S3 while the store is away each of four gateways keeps to a quarter', async () => {
    const { limits, way } = near(new ManualClock(), 4);
    way.isUp = false;
    let granted = 0;
    for (let n = 0; n < 1000; n++) granted += (await limits.take('k', rate, 1)).granted;
    expect(granted).toBe(250);
  });

  it('S3 K3 while the store is away each keeps to its part of what is picked, and gives back to itself', async () => {
    const { limits, way } = near(new ManualClock(), 4);
    const ask = { group: 'policy', rate, candidates: ['a', 'b'], each: { count: 400, perMs: 60_000 } };
    const shared = await limits.pick(ask);
    way.isUp = false;
    const got = { a: 0, b: 0, candidates: 0, group: 0 };
    let last = shared;
    for (let n = 0; n < 300; n++) {
      const picked = await limits.pick(ask);
      if (picked.kind === 'picked') last = picked;
      got[picked.kind === 'picked' ? (picked.hold.candidate as 'a' | 'b') : picked.which]++;
    }
    expect(got).toEqual({ a: 100, b: 100, candidates: 100, group: 0 });
    if (shared.kind !== 'picked' || last.kind !== 'picked') throw new Error('nothing was picked');
    expect(shared.hold.isAlone).toBe(false);
    expect(last.hold).toMatchObject({ isAlone: true, candidate: 'b' });
    await limits.putBack(shared.hold);
    expect(await limits.pick(ask)).toMatchObject({ kind: 'limited' });
    await limits.putBack(last.hold);
    expect(await limits.pick(ask)).toMatchObject({ kind: 'picked' });
  });

  it('S3 a store that hangs at a call counts as away for it', async () => {
    const clock = new ManualClock();
    const { store, way } = switched(new MemoryLimits(clock));
    way.isUp = false;
    const limits = new NearLimits({ far: store, clock, isUp: () => true, gateways: () => 2 });
    expect(await limits.take('k', rate, 2)).toEqual({ granted: 2, retryAfterMs: 0 });
  });
});

describe('MemoryLimits', () => {
  it('K09 forgets rates that are whole again, and the eldest when there are too many', async () => {
    const clock = new ManualClock();
    const limits = new MemoryLimits(clock, 2);
    const slow = { count: 1, perMs: 1000 };
    for (const key of ['a', 'b', 'c']) await limits.take(key, slow, 1);
    expect((await limits.take('c', slow, 1)).granted).toBe(0);
    expect((await limits.take('a', slow, 1)).granted).toBe(1);
  });
});
