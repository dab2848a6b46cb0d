/** The overlay that says which exits are ours: its phases, its views, and how leases are kept ahead. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { HANDOVER_MS } from '../../src/exits/own-shard.js';
import { ownersOf, shareCounts } from '../../src/exits/share-counts.js';
import { Shares, type SharesPhase } from '../../src/exits/shares.js';
import type { FleetPlace } from '../../src/exits/away-part.js';
import type { HeldLease } from '../../src/state/fallback/held-lease.js';
import { HeldLeases } from '../../src/state/fallback/held-leases.js';
import { MemoryLeases } from '../../src/state/memory/leases.js';
import { buildPool, type Pool } from '../../src/upstreams/pool.js';
import type { Sharing } from '../../src/upstreams/sharing.js';
import { switched } from '../state/away.js';
import { ManualClock } from '../state/manual-clock.js';
import { upstreamAt } from '../upstreams/pools.js';

const base: Sharing = {
  kind: 'broker',
  lease: { holders: 1, ttlMs: 30_000, idleMs: 10_000 },
  onLoss: { kind: 'shard' },
  siteGroups: null,
};
const SITE = 'shop.example';

function poolWith(sharing: Partial<Sharing>, count = 20, strategy: Pool['strategy'] = 'round_robin'): Pool {
  const upstreams = Array.from({ length: count }, (_, n) => upstreamAt(n));
  const rules = { name: 'main', strategy, slotsPerExit: Infinity, sharing: { ...base, ...sharing } };
  return buildPool({ ...rules, upstreams }, () => 0);
}

async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
}

function world(place: FleetPlace | null = null) {
  const clock = new ManualClock();
  const far = new MemoryLeases(clock, seededRandom(3));
  const gateway = (id: string) => {
    const { store, way } = switched(far);
    const phases: SharesPhase[] = [];
    const leases = new HeldLeases({
      ...{ leases: store, clock, ttlMs: 30_000, idleMs: 10_000 },
      isUp: () => way.isUp,
    });
    const shares = new Shares(
      {
        ...{ clock, random: seededRandom(4), gatewayId: id, leases, place, isSound: () => true },
        changed: (phase) => phases.push(phase),
      },
      true,
    );
    const own = (pool: Pool, site = SITE): number[] => {
      const view = shares.view(pool, site, clock.nowMs());
      return [...pool.upstreams.keys()].filter((index) => view?.isOurs(index, false) !== false);
    };
    const begin = (pool: Pool, index: number): HeldLease => {
      const held = shares.begin(pool, pool.upstreams[index]?.id ?? '');
      if (held === null || held === 'lost') throw new Error(`exit ${index} is not held`);
      return held;
    };
    return { shares, leases, way, phases, own, begin };
  };
  return { clock, gateway };
}

describe('S2 a leased pool', () => {
  it('has what was asked for and is held, and nothing that another holds', async () => {
    const { clock, gateway } = world();
    const [one, other] = [gateway('g0'), gateway('g1')];
    for (const each of [one, other]) each.shares.linked(true);
    const pool = poolWith({});
    expect(one.own(pool)).toEqual([]);
    await one.shares.ask(pool, 3, false);
    await other.shares.ask(pool, 3, false);
    expect([one.own(pool), other.own(pool)]).toEqual([[3], []]);
    expect(other.shares.askable(pool, SITE, clock.nowMs())?.isOurs(3, false)).toBe(false);
    expect(one.shares.askable(pool, SITE, clock.nowMs())?.isOurs(3, false)).toBe(false);
    clock.advance(300);
    expect(other.shares.askable(pool, SITE, clock.nowMs())?.isOurs(3, false)).toBe(true);
    const held = one.begin(pool, 3);
    expect(held).toMatchObject({ uses: 1 });
    one.shares.end(held);
    expect(held).toMatchObject({ uses: 0 });
    clock.advance(24_000);
    expect(one.own(pool)).toEqual([]);
    expect(one.shares.begin(pool, pool.upstreams[3]?.id ?? '')).toBe('lost');
  });

  it('keeps a few ahead while there are requests, no more than its part, and gives back what is more', async () => {
    const { clock, gateway } = world();
    const one = gateway('g0');
    one.shares.linked(true);
    one.shares.heard(['g0', 'g1']);
    one.shares.start();
    const pool = poolWith({});
    for (let second = 0; second < 8; second++) {
      await one.shares.ask(pool, second, false);
      const [index = 0] = one.own(pool);
      for (let n = 0; n < 40; n++) one.shares.end(one.begin(pool, index));
      clock.advance(1000);
      await settled();
    }
    expect(one.leases.size).toBe(10);
    one.shares.heard(['g0', 'g1', 'g2', 'g3']);
    clock.advance(1000);
    await settled();
    expect(one.leases.size).toBe(5);
    one.shares.stop();
    clock.advance(5000);
    expect(shareCounts(one.shares, [pool], clock.nowMs())).toEqual([
      { pool: 'main', sharing: 'broker', exits: 20, own: 5 },
    ]);
  });

  it('a pool by hash asks only for what it needs', async () => {
    const { clock, gateway } = world();
    const one = gateway('g0');
    one.shares.linked(true);
    one.shares.start();
    const pool = poolWith({}, 200, 'hash');
    await one.shares.ask(pool, 0, false);
    for (let second = 0; second < 5; second++) {
      for (let n = 0; n < 40; n++) one.shares.end(one.begin(pool, 0));
      clock.advance(1000);
      await settled();
    }
    expect(one.leases.size).toBe(2);
    one.shares.stop();
  });

  it('what another wants is given back when nobody uses it, and left to it for a while', async () => {
    const { clock, gateway } = world();
    const one = gateway('g0');
    one.shares.linked(true);
    const pool = poolWith({});
    await one.shares.ask(pool, 3, false);
    const id = pool.upstreams[3]?.id ?? '';
    const held = one.begin(pool, 3);
    one.leases.want('main', id);
    one.leases.want('main', 'u-unknown');
    expect(one.own(pool)).toEqual([]);
    expect(one.leases.size).toBe(1);
    one.shares.end(held);
    expect(one.leases.size).toBe(0);
    expect(one.own(pool)).toEqual([]);
    expect(one.shares.askable(pool, SITE, clock.nowMs())?.isOurs(3, false)).toBe(false);
  });
});

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

describe('S1 a ring and a number', () => {
  it('a ring has nothing before it has heard, nothing when it was asleep, and its part otherwise', () => {
    const { clock, gateway } = world();
    const [one, other] = [gateway('g0'), gateway('g1')];
    const pool = poolWith({ kind: 'ring' }, 300);
    expect(one.own(pool)).toEqual([]);
    for (const { shares } of [one, other]) {
      shares.linked(true);
      shares.heard(['g0', 'g1']);
    }
    expect(one.own(pool)).toEqual([]);
    clock.advance(HANDOVER_MS);
    for (const { shares } of [one, other]) shares.heard(['g0', 'g1']);
    const parts = [one, other].map(({ own }) => own(pool));
    expect(parts.flat().sort((a, b) => a - b)).toEqual([...pool.upstreams.keys()]);
    const exit = pool.upstreams[0]?.id ?? '';
    expect(ownersOf(one.shares, [pool], exit)).toEqual([
      { pool: 'main', owner: parts[0]?.includes(0) === true ? 'g0' : 'g1' },
    ]);
    expect(ownersOf(one.shares, [pool], 'u-none')).toEqual([]);
    expect(shareCounts(one.shares, [pool], clock.nowMs())[0]?.own).toBe(parts[0]?.length);
    const foreign = parts[1]?.[0] ?? 0;
    expect(one.shares.view(pool, SITE, clock.nowMs())?.isOurs(foreign, true)).toBe(true);
    clock.advance(4600);
    expect(one.own(pool)).toEqual([]);
  });

  it('a big pool is looked at a little with each choice, and then has a list', () => {
    const { clock, gateway } = world({ index: 1, count: 4 });
    const one = gateway('g0');
    const pool = poolWith({ kind: 'modulo' }, 200);
    const lists = Array.from({ length: 4 }, () => one.shares.view(pool, SITE, clock.nowMs())?.list);
    expect(lists.map((list) => list?.members.length ?? null)).toEqual([null, null, null, 50]);
    expect(one.own(pool).every((index) => index % 4 === 1)).toBe(true);
    one.shares.follow(new Set());
  });

  it('a pool that nobody shares has no overlay', () => {
    const { clock, gateway } = world();
    const { shares } = gateway('g0');
    const { sharing: _, ...plain } = poolWith({});
    const pool = { ...plain, sharing: null };
    expect(shares.view(pool, SITE, clock.nowMs())).toBeNull();
    expect(shareCounts(shares, [pool], clock.nowMs())[0]).toMatchObject({ sharing: 'none', own: null });
    expect(shares.ownerOf(pool, { id: 'u', index: 0 })).toBeNull();
  });
});

describe('S1 partition: by_site_group', () => {
  it.each(['none', 'ring', 'broker'] as const)('%s: an exit is of one group for ever', async (kind) => {
    const { clock, gateway } = world();
    const siteGroups = new Map([
      [SITE, 'shops'],
      ['news.example', 'news'],
    ]);
    const pool = poolWith({ kind, siteGroups }, 60);
    const one = gateway('g0');
    one.shares.linked(true);
    one.shares.heard(['g0']);
    if (kind === 'broker')
      await Promise.all([...pool.upstreams.keys()].map((index) => one.shares.ask(pool, index, false)));
    const sites = [SITE, 'news.example', 'any.example'];
    const parts = sites.map((site) => one.own(pool, site));
    expect(parts.every(({ length }) => length > 8)).toBe(true);
    expect(parts.flat().sort((a, b) => a - b)).toEqual([...pool.upstreams.keys()]);
    const foreign = parts[1]?.[0] ?? 0;
    const view = one.shares.view(pool, SITE, clock.nowMs());
    expect([view?.isOurs(foreign, true), view?.mayBecomeOurs(foreign)]).toEqual([false, false]);
    if (kind === 'broker')
      expect(one.shares.askable(pool, SITE, clock.nowMs())?.isOurs(foreign, false)).toBe(false);
  });
});
