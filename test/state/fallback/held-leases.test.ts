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
  const gateway = (shard: readonly string[]) => {
    const { store, way } = switched(far);
    const leases = new HeldLeases({
      ...{ leases: store, clock, ttlMs: TTL_MS, idleMs: IDLE_MS },
      isUp: () => way.isUp,
      isMine: (_, exit) => shard.includes(exit),
    });
    return { leases, way };
  };
  return { clock, far, one: gateway(['u-a']), other: gateway(['u-b']) };
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

  it('S3 while the store is away each gateway uses its own shard, and what it holds', async () => {
    const { one, other } = fleet();
    await got(one.leases, 'u-c');
    for (const { way } of [one, other]) way.isUp = false;
    expect(await got(one.leases, 'u-b', 'u-a')).toMatchObject({ exit: 'u-a', lease: null });
    expect(await got(one.leases, 'u-c')).toMatchObject({ exit: 'u-c' });
    expect(await other.leases.take(ask('u-a', 'u-c'))).toBeNull();
    expect(await got(other.leases, 'u-b')).toMatchObject({ exit: 'u-b' });
  });

  it('S3 when it is back exits of the shard get a lease, or are given up', async () => {
    const { one, other } = fleet();
    one.way.isUp = false;
    const held = await got(one.leases, 'u-a');
    one.way.isUp = true;
    await one.leases.back();
    expect(held.lease).toMatchObject({ exit: 'u-a' });
    expect(await other.leases.take(ask('u-a'))).toBeNull();
    await got(one.leases, 'u-b');
    other.way.isUp = false;
    const late = await got(other.leases, 'u-b');
    other.way.isUp = true;
    await other.leases.back();
    expect(other.leases.isHeld(late)).toBe(false);
    expect(other.leases.counts).toMatchObject({ lost: 1, overlaps: 1 });
  });

  it('S3 a store that hangs at the first call sends to the own shard', async () => {
    const { clock, far } = fleet();
    const { store, way } = switched(far);
    way.isUp = false;
    const parts = { leases: store, clock, ttlMs: TTL_MS, idleMs: IDLE_MS };
    const leases = new HeldLeases({ ...parts, isUp: () => true, isMine: () => true });
    expect(await got(leases, 'u-a')).toMatchObject({ lease: null });
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
