/** The overlay that says which exits are ours, while the shared state is away and when it comes back. */
import { describe, expect, it } from 'vitest';
import type { FleetPlace } from '../../src/exits/away-part.js';
import { base, poolWith, settled, SITE, world } from './gateways.js';

describe('S3 while the shared state is away', () => {
  it('each has its own part, and all is as before when it is back', async () => {
    const { clock, gateway } = world();
    const all = ['g0', 'g1', 'g2'].map(gateway);
    const pool = poolWith({}, 300);
    for (const { shares } of all) {
      shares.linked(true);
      shares.heard(['g0', 'g1', 'g2']);
    }
    await all[0]?.shares.ask(pool, 3, false);
    for (const { shares, way } of all) {
      way.isUp = false;
      shares.linked(false);
    }
    expect(all.map(({ own }) => own(pool))).toEqual([[3], [], []]);
    clock.advance(base.lease.ttlMs - 1);
    expect(all.flatMap(({ own }) => own(pool)).filter((index) => index !== 3)).toEqual([]);
    clock.advance(1);
    const parts = all.map(({ own }) => own(pool));
    expect(parts.flat().sort((a, b) => a - b)).toEqual([...pool.upstreams.keys()]);
    expect(all.map(({ shares }) => shares.isAlone)).toEqual([true, true, true]);
    const [first] = all;
    if (first === undefined) throw new Error('no gateway');
    await first.leases.tend();
    const index = first.own(pool)[0] ?? 0;
    const used = first.begin(pool, index);
    expect(used).toMatchObject({ lease: null });
    for (const { shares, way } of all) {
      way.isUp = true;
      shares.linked(true);
    }
    expect(first.shares.phase).toBe('returning');
    expect(all.map(({ own }) => own(pool))).toEqual([[], [], []]);
    await settled();
    expect(all.map(({ own }) => own(pool))).toEqual([[index], [], []]);
    const [askable, of] = [first.shares.askable(pool, SITE, clock.nowMs()), parts[0] ?? []];
    const asked = [...pool.upstreams.keys()].filter((each) => askable?.isOurs(each, false));
    expect(asked).toEqual(of.filter((each) => each !== index));
    clock.advance(3000);
    await settled();
    expect(all.map(({ phases }) => phases)).toEqual(all.map(() => ['shared', 'away', 'returning', 'shared']));
    expect(used.lease).not.toBeNull();
    expect(first.own(pool)).toEqual([index]);
  });

  it('another outage during the return is one outage', async () => {
    const { clock, gateway } = world();
    const one = gateway('g0');
    one.shares.linked(true);
    one.shares.linked(false);
    one.shares.linked(false);
    one.shares.linked(true);
    one.shares.linked(false);
    clock.advance(5000);
    await settled();
    expect(one.shares.phase).toBe('away');
  });

  it('fail has nothing, reserve names another pool, none and ring go on', () => {
    const { clock, gateway } = world();
    const one = gateway('g0');
    const strict = poolWith({ onLoss: { kind: 'fail' } });
    const spared = poolWith({ kind: 'none', onLoss: { kind: 'reserve', pool: 'spare' } });
    one.shares.linked(true);
    one.shares.heard(['g0']);
    expect(one.shares.insteadOf(spared)).toBeNull();
    expect(one.shares.refusesAll([strict])).toBe(false);
    one.shares.linked(false);
    expect(one.own(strict)).toEqual([]);
    const view = one.shares.view(strict, SITE, clock.nowMs());
    expect([view?.whyNone, view?.mayBecomeOurs(0), view?.list?.members.length]).toEqual([
      ...['the shared state is away, and the pool is not used without it', false, 0],
    ]);
    expect(one.shares.insteadOf(spared)).toBe('spare');
    expect([[strict], [strict, spared]].map((pools) => one.shares.refusesAll(pools))).toEqual([true, false]);
    expect(one.own(spared)).toHaveLength(20);
    expect(one.own(poolWith({ kind: 'ring' }))).toHaveLength(20);
    expect(one.shares.askable(strict, SITE, clock.nowMs())).toBeNull();
  });

  it.each<[string, FleetPlace | null, number]>([
    ['nothing configured: all', null, 400],
    ['how many there are: a part', { index: null, count: 4 }, 100],
    ['which one it is: the same part each time', { index: 1, count: 4 }, 100],
  ])('D06 from the start, %s', (_, place, about) => {
    const { clock, gateway } = world(place);
    const one = gateway('g0');
    one.shares.linked(false);
    expect(one.own(poolWith({}, 400))).toEqual([]);
    clock.advance(base.lease.ttlMs);
    for (const kind of ['broker', 'ring'] as const) {
      const { length } = one.own(poolWith({ kind }, 400));
      expect(Math.abs(length - about)).toBeLessThan(35);
    }
  });
});
