/**
 * Who rests from which site until when, and what was learnt of it: the pace that a site tolerates (per pool, since sites
 * don't treat all kinds of exits alike) and the odds of each exit there. Sparse, bounded: the site that was visited least
 * recently is forgotten first. It reads no clock.
 *
 * A rest begins when the answer came, so that what the site sees is never closer together than asked, however long the
 * way took; and while one request waits for its answer no other goes out, where a rest is asked for.
 */
import type { PaceView, Pacing, Pool } from '../upstreams/pool.js';
import { newRest, PoolAtSite, visit, type Rest, type Visit } from './pool-at-site.js';

interface SiteRests {
  /** In the order of their last use. */
  readonly rests: Map<number, Rest>;
  readonly pools: Map<string, PoolAtSite>;
}

/** The rest that exits of a pool take from a site, as far as that was learnt. */
export interface LearntPace {
  readonly site: string;
  readonly pool: string;
  readonly spacingMs: number;
}

const silent = (): void => undefined;
const noVisit: Visit = { answered: silent, learn: silent, end: silent, withdraw: silent };

/** All sites. */
export class Paces {
  /** The site visited last comes last. */
  readonly #sites = new Map<string, SiteRests>();
  #rests = 0;

  constructor(
    private readonly maxSites = 10_000,
    private readonly maxRests = 200_000,
  ) {}

  /** How many pairs of exit and site are remembered. */
  get size(): number {
    return this.#rests;
  }

  get siteCount(): number {
    return this.#sites.size;
  }

  /** What choosing from this pool for this site goes by; null for a pool without pacing. */
  view(pool: Pool, site: string, nowMs: number): PaceView | null {
    return pool.pacing === null ? null : this.#at(pool.name, pool.pacing, { site, nowMs });
  }

  /** What was learnt of sites that want a rest, those visited last first, at most so many. */
  learnt(most: number): LearntPace[] {
    const found: LearntPace[] = [];
    for (const [site, { pools }] of [...this.#sites].reverse())
      for (const [pool, at] of pools) {
        if (found.length >= most) return found;
        if (at.isLearning && at.spacingMs > 0) found.push({ site, pool, spacingMs: at.spacingMs });
      }
    return found;
  }

  /** A request goes out. */
  begin(pool: Pool, slot: number, to: { readonly site: string; readonly nowMs: number }): Visit {
    if (pool.pacing === null) return noVisit;
    const { site, nowMs } = to;
    const at = this.#at(pool.name, pool.pacing, to);
    const found = this.#sites.get(site);
    if (found === undefined) return noVisit;
    const rest = found.rests.get(slot) ?? newRest();
    // Deleted and set, each is the last of its map: the first ones are those to forget.
    if (!found.rests.delete(slot)) this.#rests++;
    found.rests.set(slot, rest);
    this.#sites.delete(site);
    this.#sites.set(site, found);
    if (this.#rests > this.maxRests) this.#makeRoom();
    return visit(at, rest, { slot, exits: pool.slots.length, nowMs });
  }

  /** Forgets exits whose slots are free, so that the next in the slot begins anew. */
  forget(isGone: (slot: number) => boolean): void {
    for (const { rests } of this.#sites.values()) {
      for (const slot of rests.keys()) if (isGone(slot) && rests.delete(slot)) this.#rests--;
    }
  }

  #at(poolName: string, pacing: Pacing, now: { readonly site: string; readonly nowMs: number }): PoolAtSite {
    let found = this.#sites.get(now.site);
    if (found === undefined) {
      found = { rests: new Map<number, Rest>(), pools: new Map<string, PoolAtSite>() };
      this.#sites.set(now.site, found);
      if (this.#sites.size > this.maxSites) this.#makeRoom();
    }
    let at = found.pools.get(poolName);
    if (at === undefined) {
      at = new PoolAtSite(pacing, found.rests, now.nowMs);
      found.pools.set(poolName, at);
    } else at.use(pacing);
    return at;
  }

  /** Drops the site that was visited least recently; of the only one, the exits used least recently. */
  #makeRoom(): void {
    for (const [site, { rests }] of this.#sites) {
      if (this.#sites.size > 1) {
        this.#rests -= rests.size;
        this.#sites.delete(site);
        return;
      }
      for (const slot of rests.keys()) {
        if (this.#rests <= this.maxRests) return;
        rests.delete(slot);
        this.#rests--;
      }
    }
  }
}
