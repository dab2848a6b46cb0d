/** How much of each pool is this gateway's, and whose an exit is: for people. */
import type { Pool } from '../upstreams/pool.js';
import type { SharingKind } from '../upstreams/sharing.js';
import { RuledView } from './share-views.js';
import type { Shares } from './shares.js';

/** How much of a pool is this gateway's. */
export interface ShareCount {
  readonly pool: string;
  readonly sharing: SharingKind;
  readonly exits: number;
  /** Null where all are, or where it depends on the site. */
  readonly own: number | null;
}

/** Of each pool. */
export function shareCounts(shares: Shares, pools: Iterable<Pool>, nowMs: number): ShareCount[] {
  return [...pools].map((pool) => {
    const { sharing, name, upstreams } = pool;
    const isPlain = sharing === null || sharing.kind === 'none' || sharing.siteGroups !== null;
    const view = isPlain ? null : shares.view(pool, '', nowMs);
    const own = view === null ? null : view instanceof RuledView ? view.count : view.list?.members.length;
    return { pool: name, sharing: sharing?.kind ?? 'none', exits: upstreams.length, own: own ?? null };
  });
}

/** Whose an exit is in each pool that has it; null where nobody knows. */
export function ownersOf(
  shares: Shares,
  pools: Iterable<Pool>,
  exit: string,
): { pool: string; owner: string | null }[] {
  return [...pools].flatMap((pool) => {
    const index = pool.indexById.get(exit);
    return index === undefined ? [] : [{ pool: pool.name, owner: shares.ownerOf(pool, { id: exit, index }) }];
  });
}
