/** Gateways with shares and leases, over one store in memory. */
import { seededRandom } from '../../src/core/random.js';
import { Shares, type SharesPhase } from '../../src/exits/shares.js';
import type { FleetPlace } from '../../src/exits/away-part.js';
import { HeldLeases } from '../../src/state/fallback/held-leases.js';
import { MemoryLeases } from '../../src/state/memory/leases.js';
import { buildPool, type Pool } from '../../src/upstreams/pool.js';
import type { Sharing } from '../../src/upstreams/sharing.js';
import { switched } from '../state/away.js';
import { ManualClock } from '../state/manual-clock.js';
import { upstreamAt } from '../upstreams/pools.js';

/** A leased pool. */
export const base: Sharing = {
  kind: 'broker',
  lease: { holders: 1, ttlMs: 30_000, idleMs: 10_000 },
  onLoss: { kind: 'shard' },
  siteGroups: null,
};
export const SITE = 'shop.example';

/** A pool that is shared so. */
export function poolWith(
  sharing: Partial<Sharing>,
  count = 20,
  strategy: Pool['strategy'] = 'round_robin',
): Pool {
  const upstreams = Array.from({ length: count }, (_, n) => upstreamAt(n));
  const rules = { name: 'main', strategy, slotsPerExit: Infinity, sharing: { ...base, ...sharing } };
  return buildPool({ ...rules, upstreams }, () => 0);
}

/** What was asked for is answered. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** Gateways that share leases, with a clock. */
export function world(place: FleetPlace | null = null) {
  const clock = new ManualClock();
  const far = new MemoryLeases(clock, seededRandom(3));
  const gateway = (id: string) => {
    const { store, way } = switched(far);
    const phases: SharesPhase[] = [];
    const leases: HeldLeases = new HeldLeases({
      ...{ leases: store, clock, ttlMs: 30_000, idleMs: 10_000 },
      isUp: () => way.isUp && !shares.isAlone,
      isMine: (_, exit) => shares.isInPart(exit),
    });
    const shares: Shares = new Shares(
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
    return { shares, leases, way, phases, own };
  };
  return { clock, gateway };
}
