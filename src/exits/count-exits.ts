/** How many exits of each pool are in use and how many are set aside, for the metrics. */
import type { Pool } from '../upstreams/pool.js';
import type { Ledger } from './ledger.js';

/** A number of exits of one pool in one state. */
export interface ExitCount {
  readonly pool: string;
  readonly state: 'available' | 'out';
  readonly count: number;
}

/** No site has this name, so that only what holds for all sites counts. */
const NO_SITE = '';

/** Counts exits per pool: `out` are those set aside altogether. */
export function countExits(pools: ReadonlyMap<string, Pool>, ledger: Ledger, nowMs: number): ExitCount[] {
  const counts: ExitCount[] = [];
  for (const [name, pool] of pools) {
    let available = 0;
    for (const slot of pool.slots) if (ledger.isUsable(slot, NO_SITE, nowMs)) available++;
    counts.push({ pool: name, state: 'available', count: available });
    counts.push({ pool: name, state: 'out', count: pool.slots.length - available });
  }
  return counts;
}
