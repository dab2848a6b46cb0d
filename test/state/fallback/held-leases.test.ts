import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.js';
import { HeldLeases } from '../../../src/state/fallback/held-leases.js';
import type { HeldLease } from '../../../src/state/fallback/held-lease.js';
import { MemoryLeases } from '../../../src/state/memory/leases.js';
import { switched } from '../away.js';
import { ManualClock } from '../manual-clock.js';

const TTL_MS = 30_000;
const IDLE_MS = 5000;

function fleet() {
  const clock = new ManualClock();
  const far = new MemoryLeases(clock, seededRandom(1));
  const gateway = () => {
    const { store, way } = switched(far);
    const leases = new HeldLeases({
      ...{ leases: store, clock, ttlMs: TTL_MS, idleMs: IDLE_MS },
      isUp: () => way.isUp,
    });
    return { leases, way };
  };
  return { clock, far, one: gateway(), other: gateway() };
}

const ask = (...candidates: string[]) => ({ pool: 'p', candidates, slots: 1 });

async function got(leases: HeldLeases, ...candidates: string[]): Promise<HeldLease> {
  const held = await leases.take(ask(...candidates));
  if (held === null) throw new Error('no lease');
  return held;
}

describe('HeldLeases', () => {
  it('S2 one lease serves many requests without a call, and nobody else', async () => {
    const { one, other } = fleet();
    await got(one.leases, 'u-a');
    for (let n = 0; n < 100; n++) expect(one.leases.take(ask('u-a', 'u-b'))).not.toBeInstanceOf(Promise);
    expect(one.way.calls).toBe(1);
    expect(await other.leases.take(ask('u-a'))).toBeNull();
    expect(await got(other.leases, 'u-a', 'u-b')).toMatchObject({ exit: 'u-b' });
  });

  it('S2 renews what is in use, and gives back what was idle', async () => {
    const { clock, one, other } = fleet();
    const busy = await got(one.leases, 'u-a');
    one.leases.done(await got(one.leases, 'u-b'));
    for (let n = 0; n < 6; n++) {
      clock.advance(TTL_MS / 3);
      await one.leases.tend();
    }
    expect(one.leases.isHeld(busy)).toBe(true);
    expect(await other.leases.take(ask('u-a'))).toBeNull();
    expect(await got(other.leases, 'u-b')).toMatchObject({ exit: 'u-b' });
    expect(one.leases.counts).toMatchObject({ released: 1, lost: 0, overlaps: 0 });
  });

  it('N7 the next holder hears when the exit was used last', async () => {
    const { clock, one, other } = fleet();
    const spaced = { ...ask('u-a'), keepMs: 60_000 };
    const held = await one.leases.take(spaced);
    expect(held?.otherUseMs).toBe(-Infinity);
    clock.advance(1000);
    if (held !== null) one.leases.done(held);
    clock.advance(IDLE_MS);
    await one.leases.tend();
    expect(await other.leases.take(spaced)).toMatchObject({ otherUseMs: clock.nowMs() - IDLE_MS });
  });

  it('S2 counts a lease as lost before another can have it', async () => {
    const { clock, one, other } = fleet();
    const held = await got(one.leases, 'u-a');
    clock.advance(TTL_MS * 0.8);
    expect(one.leases.isHeld(held)).toBe(false);
    expect(await one.leases.take(ask('u-a'))).toBeNull();
    expect(await other.leases.take(ask('u-a'))).toBeNull();
    clock.advance(TTL_MS * 0.2);
    expect(await got(other.leases, 'u-a')).toMatchObject({ exit: 'u-a' });
    await one.leases.tend();
    expect(one.leases.counts).toMatchObject({ lost: 1, overlaps: 0 });
    expect(one.leases.size).toBe(0);
  });

  it('S2 counts as an overlap what the store gave away while it was believed to be ours', async () => {
    const { clock, one, far } = fleet();
    const held = await got(one.leases, 'u-a');
    if (held.lease !== null) await far.release([held.lease]);
    clock.advance(TTL_MS / 3);
    await one.leases.tend();
    expect(one.leases.counts).toMatchObject({ lost: 1, overlaps: 1 });
    expect(one.leases.isHeld(held)).toBe(false);
  });

  it('S2 two requests that ask at once for an exit with slots keep one lease', async () => {
    const { one, far } = fleet();
    const two = { ...ask('u-a'), slots: 2 };
    const [first, second] = await Promise.all([one.leases.take(two), one.leases.take(two)]);
    expect(second).toBe(first);
    expect(first?.uses).toBe(2);
    expect(await far.acquire({ ...two, ttlMs: TTL_MS })).not.toBeNull();
  });

  it('S3 while the store is away a gateway has what it held, of its own part without end', async () => {
    const { clock, one } = fleet();
    for (const exit of ['u-a', 'u-c']) one.leases.done(await got(one.leases, exit));
    one.way.isUp = false;
    one.leases.away((exit) => exit === 'u-a');
    expect(await one.leases.take(ask('u-b'))).toBeNull();
    for (const exit of ['u-a', 'u-c']) one.leases.done(await got(one.leases, exit));
    clock.advance(TTL_MS * 0.8);
    await one.leases.tend();
    expect([one.leases.use('p', 'u-c'), one.leases.use('p', 'u-b')]).toEqual([null, null]);
    expect(one.leases.use('p', 'u-a')).toMatchObject({ exit: 'u-a', uses: 1 });
    expect(one.leases.useOwn({ pool: 'p', slots: 1 }, 'u-b')).toMatchObject({ lease: null, uses: 1 });
    expect(one.leases.useOwn({ pool: 'p', slots: 1 }, 'u-b')).toMatchObject({ lease: null, uses: 2 });
  });

  it('S3 when it is back nothing is used before the store has said that it is ours', async () => {
    const { clock, one, other } = fleet();
    const held = await got(one.leases, 'u-a');
    one.way.isUp = false;
    one.leases.away((exit) => exit !== 'u-c');
    const [own, late] = ['u-b', 'u-d'].map((exit) => one.leases.useOwn({ pool: 'p', slots: 1 }, exit));
    clock.advance(TTL_MS);
    await got(other.leases, 'u-d');
    one.way.isUp = true;
    const isBack = one.leases.back();
    expect(['u-a', 'u-b', 'u-d'].map((exit) => one.leases.use('p', exit))).toEqual([null, null, null]);
    await isBack;
    expect(held.lease).not.toBeNull();
    expect(own?.lease).toMatchObject({ exit: 'u-b' });
    for (const exit of ['u-a', 'u-b']) {
      expect(one.leases.use('p', exit)).toMatchObject({ exit });
      expect(await other.leases.take(ask(exit))).toBeNull();
    }
    expect(one.leases.use('p', 'u-d')).toBeNull();
    expect(late !== undefined && one.leases.isHeld(late)).toBe(false);
    expect(one.leases.counts).toMatchObject({ lost: 1, overlaps: 1 });
  });

  it('S3 what the store did not confirm is given up', async () => {
    const { one } = fleet();
    await got(one.leases, 'u-a');
    one.leases.away(() => false);
    one.way.isUp = false;
    await one.leases.back();
    expect(one.leases.use('p', 'u-a')).toBeNull();
    one.leases.dropUnleased();
    expect(one.leases.size).toBe(0);
  });

  it('S2 a call that hangs gives nothing: what it asked for may be another’s', async () => {
    const { clock, far } = fleet();
    const { store, way } = switched(far);
    way.isUp = false;
    const leases = new HeldLeases({ leases: store, clock, ttlMs: TTL_MS, idleMs: IDLE_MS, isUp: () => true });
    expect(await leases.take(ask('u-a'))).toBeNull();
    await leases.tend();
    await leases.stop();
    expect(leases.size).toBe(0);
  });

  it('S2 gives everything back at the end', async () => {
    const { clock, one, other } = fleet();
    one.leases.start();
    for (const exit of ['u-a', 'u-b']) await got(one.leases, exit);
    clock.advance(TTL_MS / 3);
    await one.leases.stop();
    expect(await got(other.leases, 'u-a')).toMatchObject({ exit: 'u-a' });
    expect(await got(other.leases, 'u-b')).toMatchObject({ exit: 'u-b' });
  });
});
