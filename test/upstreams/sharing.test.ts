import { describe, expect, it } from 'vitest';
import { choose, type Ask } from '../../src/upstreams/choose.js';
import { chooseLeastBad } from '../../src/upstreams/least-bad.js';
import { listOf, type PaceView, type Pool, type StrategyName } from '../../src/upstreams/pool.js';
import {
  groupOf,
  groupsIn,
  isUsedByMany,
  OTHER_SITES,
  type Sharing,
  type ShareView,
} from '../../src/upstreams/sharing.js';
import { anyExit, askOf, idAt, poolOf, ScriptedView } from './pools.js';

/** Exits with these indexes; a session may follow its exit as `mayFollow` says. */
function only(pool: Pool, ours: readonly number[], mayFollow = false): ShareView {
  return {
    list: listOf(pool, 'ours', Uint32Array.from(ours)),
    whyNone: 'all are those of others',
    isOurs: (index, isPinned) => ours.includes(index) || (isPinned && mayFollow),
    mayBecomeOurs: () => true,
  };
}

const strategies: readonly StrategyName[] = [
  ...(['round_robin', 'random', 'weighted_random', 'least_used'] as const),
  ...(['least_recently_used_per_site', 'fastest', 'adaptive', 'hash'] as const),
];

describe('S1 choosing among the exits that are ours', () => {
  it.each(strategies)('%s takes those and no other, and says so where there is none', (strategy) => {
    const pool = poolOf(300, strategy);
    const asked = (share: ShareView, changes: Partial<Ask> = {}): Ask =>
      askOf(pool, new ScriptedView(), { share, hashKey: 'k', ...changes });
    const ours = [7, 8, 299];
    for (let n = 0; n < 20; n++) {
      const choice = choose(asked(only(pool, ours), { hashKey: `k${n}` }));
      expect(choice.kind === 'exit' && ours.includes(choice.index)).toBe(true);
    }
    expect(choose(asked(only(pool, [])))).toEqual({
      ...{ kind: 'none', retryAfterMs: 1000, reason: 'all are those of others' },
    });
  });

  it('a session follows its exit where it may, and waits for it where it may not yet', () => {
    const pool = poolOf(10);
    const pinned = { pinned: idAt(pool, 3), sessionKey: 's' };
    const asked = (mayFollow: boolean): Ask =>
      askOf(pool, new ScriptedView(), { share: only(pool, [1], mayFollow), ...pinned });
    expect(choose(asked(true))).toMatchObject({ index: 3, why: 'pinned' });
    expect(choose(asked(false))).toMatchObject({
      ...{ kind: 'none', isPinFull: true, reason: 'all are those of others' },
    });
  });

  it('a named exit of another is not used, nor is it the least bad', () => {
    const pool = poolOf(10);
    const share = only(pool, [1]);
    const filter = { ...anyExit, upstream: idAt(pool, 3) };
    expect(choose(askOf(pool, new ScriptedView(), { share, filter }))).toMatchObject({
      reason: 'all are those of others',
    });
    const view = new ScriptedView();
    for (let n = 0; n < 10; n++) view.out.set(n, 5000 - n);
    expect(chooseLeastBad(askOf(pool, view))).toBe(9);
    expect(chooseLeastBad(askOf(pool, view, { share }))).toBe(1);
    expect(chooseLeastBad(askOf(pool, view, { share: { ...share, list: null } }))).toBe(1);
  });

  it('what is ours and banned is told as such', () => {
    const pool = poolOf(10);
    const view = new ScriptedView();
    view.out.set(1, 3000);
    expect(choose(askOf(pool, view, { share: only(pool, [1]) }))).toMatchObject({
      ...{ retryAfterMs: 2000, reason: 'all exits are set aside' },
    });
  });

  it('a list of some has its own ring: 1,000 of 2,000 exits, each key to one of them', () => {
    const pool = poolOf(2000, 'hash');
    const even = Array.from({ length: 1000 }, (_, n) => 2 * n);
    const share = only(pool, even);
    const chosen = Array.from({ length: 500 }, (_, n) =>
      choose(askOf(pool, new ScriptedView(), { share, hashKey: `k${n}` })),
    );
    expect(chosen.every((choice) => choice.kind === 'exit' && choice.index % 2 === 0)).toBe(true);
    expect(new Set(chosen.map((choice) => choice.kind === 'exit' && choice.index)).size).toBeGreaterThan(300);
  });
});

describe('groups of sites', () => {
  const sharing: Sharing = {
    kind: 'none',
    lease: { holders: 1, ttlMs: 1, idleMs: 1 },
    onLoss: { kind: 'shard' },
    siteGroups: new Map([
      ['a.example', 'shops'],
      ['b.example', 'shops'],
      ['c.example', 'news'],
    ]),
  };

  it('S1 each site is of one, those that are not named of one more', () => {
    expect(['a.example', 'c.example', 'x.example'].map((site) => groupOf(sharing, site))).toEqual([
      ...['shops', 'news', OTHER_SITES],
    ]);
    expect(groupsIn(sharing)).toEqual(['news', OTHER_SITES, 'shops']);
    const none = { ...sharing, siteGroups: null };
    expect(groupOf(none, 'a.example')).toBeNull();
    expect(groupsIn(none)).toEqual([OTHER_SITES]);
  });
});

describe('N7 an exit that another gateway may have used last', () => {
  const pace = (spacingMs: number): PaceView => ({
    ...{ spacingMs, isFull: false, restedAtMs: () => 500, lastUsedMs: () => 0, promise: () => 1 },
  });

  it('rests as if the use had been ours, and says for how long', () => {
    const pool = poolOf(1);
    const share: ShareView = { ...only(pool, [0]), restedAtMs: (_, { spacingMs }) => 1000 + spacingMs };
    const asked = (nowMs: number, spacingMs: number): Ask =>
      askOf(pool, new ScriptedView(), { share, pace: pace(spacingMs), nowMs });
    expect(choose(asked(2000, 2000))).toMatchObject({ kind: 'none', retryAfterMs: 1000, isResting: true });
    expect(choose(asked(3000, 2000))).toMatchObject({ kind: 'exit' });
    expect(choose(asked(600, 0))).toMatchObject({ kind: 'exit' });
    expect(choose({ ...asked(400, 2000), share: only(pool, [0]) })).toMatchObject({ retryAfterMs: 100 });
  });

  it('is any exit that several may use at once', () => {
    const lease = { holders: 1, ttlMs: 1, idleMs: 1 };
    const sharing = { kind: 'broker', lease, onLoss: { kind: 'shard' }, siteGroups: null } as const;
    expect([null, { ...sharing, kind: 'none' as const }].map(isUsedByMany)).toEqual([true, true]);
    expect(isUsedByMany({ ...sharing, lease: { ...lease, holders: 2 } })).toBe(true);
    const own = (['broker', 'ring', 'modulo'] as const).map((kind) => isUsedByMany({ ...sharing, kind }));
    expect(own).toEqual([false, false, false]);
  });
});
