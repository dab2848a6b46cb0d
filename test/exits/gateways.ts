/** Gateways that share leases: their overlay over pools, each with a way to the store that can be cut. */
import { seededRandom } from '../../src/core/random.js';
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

/** What pools are shared by where a test says nothing else. */
export const base: Sharing = {
  kind: 'broker',
  lease: { holders: 1, ttlMs: 30_000, idleMs: 10_000 },
  onLoss: { kind: 'shard' },
  siteGroups: null,
};
export const SITE = 'shop.example';

/** A pool of exits. */
export function poolWith(
  sharing: Partial<Sharing>,
  count = 20,
  strategy: Pool['strategy'] = 'round_robin',
): Pool {
  const upstreams = Array.from({ length: count }, (_, n) => upstreamAt(n));
  const rules = { name: 'main', strategy, slotsPerExit: Infinity, sharing: { ...base, ...sharing } };
  return buildPool({ ...rules, upstreams }, () => 0);
}

/** Waits for calls of stores that answer at once. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** Gateways on one store of leases. */
export function world(place: FleetPlace | null = null) {
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
