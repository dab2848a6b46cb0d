/** How exits rest that come from another gateway. */
import { describe, expect, it } from 'vitest';
import { HANDOVER_MS } from '../../src/exits/own-shard.js';
import { base, poolWith, SITE, world } from './gateways.js';

describe('an exit that was handed over', () => {
  it('N7 what another gateway used a moment ago rests first, where the pool wants a rest', async () => {
    const { clock, gateway } = world();
    const [one, other] = [gateway('g0'), gateway('g1')];
    for (const each of [one, other]) each.shares.linked(true);
    const pool = { ...poolWith({}), pacing: { spacing: 20_000, siteSlots: Infinity } };
    const restedAtMs = (of: typeof one, index: number, in_ = pool): number | undefined =>
      of.shares
        .view(in_, SITE, clock.nowMs())
        ?.restedAtMs?.(index, { spacingMs: 20_000, nowMs: clock.nowMs() });
    await one.shares.ask(pool, 3, false);
    one.shares.end(one.begin(pool, 3));
    const usedMs = clock.nowMs();
    clock.advance(10_000);
    await one.leases.tend();
    await other.shares.ask(pool, 3, false);
    expect([restedAtMs(other, 3), restedAtMs(other, 4)]).toEqual([usedMs + 20_000, -Infinity]);
    const groups = { ...pool, sharing: { ...base, siteGroups: new Map([['other.example', 'x']]) } };
    expect(restedAtMs(other, 3, groups)).toBe(usedMs + 20_000);
  });

  it('N7 by the ring rests once from the hand-over', () => {
    const { clock, gateway } = world();
    const one = gateway('g0');
    one.shares.linked(true);
    one.shares.heard(['g0', 'g1']);
    const pool = { ...poolWith({ kind: 'ring' }), pacing: { spacing: 20_000, siteSlots: Infinity } };
    clock.advance(60_000);
    one.shares.heard(['g0', 'g1']);
    const before = new Set(one.own(pool));
    one.shares.heard(['g0']);
    const saidMs = clock.nowMs();
    clock.advance(HANDOVER_MS);
    one.shares.heard(['g0']);
    const view = one.shares.view(pool, SITE, clock.nowMs());
    const rest = { spacingMs: 20_000, nowMs: clock.nowMs() };
    const rested = [...pool.upstreams.keys()].map((index) => view?.restedAtMs?.(index, rest));
    const cameMs = saidMs + HANDOVER_MS + 20_000;
    expect(before.size).toBeGreaterThan(0);
    expect(rested).toEqual([...rested.keys()].map((index) => (before.has(index) ? -Infinity : cameMs)));
  });
});
