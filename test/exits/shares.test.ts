/** The overlay that says which exits are ours: its phases, its views, and how leases are kept ahead. */
import { describe, expect, it } from 'vitest';
import { HANDOVER_MS } from '../../src/exits/own-shard.js';
import { ownersOf, shareCounts } from '../../src/exits/share-counts.js';
import { poolWith, settled, SITE, world } from './gateways.js';

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
