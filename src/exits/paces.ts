/**
 * Who rests from which site until when, and what was learnt of it: the pace that a site tolerates (per pool, since sites
 * don't treat all kinds of exits alike) and the odds of each exit there. Sparse, bounded: the site that was visited least
 * recently is forgotten first. It reads no clock.
 *
 * A rest begins when the answer came, so that what the site sees is never closer together than asked, however long the
 * way took; and while one request waits for its answer no other goes out, where a rest is asked for.
 */
import type { Random } from '../core/random.js';
import { drawOdds, noOdds, oddsAfter, type Odds } from '../facts/odds.js';
import { SitePace } from '../facts/pace.js';
import type { PaceView, Pacing, Pool } from '../upstreams/pool.js';

/**
 * What an answer says: the site was content or refused; the way failed, or it held, and nobody can see the site's answer.
 */
export type Said = 'good' | 'refused' | 'failed' | 'reached';

/** An exit at a site. */
interface Rest {
  lastMs: number;
  /** Requests without an answer yet. */
  pending: number;
  /** How much longer than others it has to rest. */
  factor: number;
  wasGood: boolean;
  /** Smoothed over the last rests between good answers; 0: none yet. */
  meanRestMs: number;
  odds: Odds;
}

interface SiteRests {
  /** In the order of their last use. */
  readonly rests: Map<number, Rest>;
  readonly pools: Map<string, PoolAtSite>;
}

const MOST_FACTOR = 8;
const FACTOR_UP = 1.5;
const FACTOR_DOWN = 0.8;
/** Below this an exit speaks for the site, above for itself alone. */
const FACTOR_OWN = 1.2;
const REST_WEIGHT = 0.3;
const LATENCY_WEIGHT = 0.05;

/** One pool at one site: what choosing asks about. */
class PoolAtSite implements PaceView {
  readonly #rests: Map<number, Rest>;
  #pacing: Pacing;
  readonly learnt: SitePace;
  inFlight = 0;
  latencyMs = 0;

  constructor(pacing: Pacing, rests: Map<number, Rest>, nowMs: number) {
    this.#pacing = pacing;
    this.#rests = rests;
    this.learnt = new SitePace(nowMs);
  }

  /** A reload may ask for another pace; what was learnt stays. */
  use(pacing: Pacing): void {
    this.#pacing = pacing;
  }

  get spacingMs(): number {
    const { spacing } = this.#pacing;
    return spacing === 'auto' ? this.learnt.spacingMs : spacing;
  }

  get isFull(): boolean {
    return this.inFlight >= this.#pacing.siteSlots;
  }

  get isLearning(): boolean {
    return this.#pacing.spacing === 'auto';
  }

  restedAtMs(slot: number): number {
    const rest = this.#rests.get(slot);
    const { spacingMs } = this;
    if (rest === undefined || spacingMs === 0) return -Infinity;
    if (rest.pending > 0) return Infinity;
    return rest.lastMs + spacingMs * (this.isLearning ? rest.factor : 1);
  }

  lastUsedMs(slot: number): number {
    return this.#rests.get(slot)?.lastMs ?? -Infinity;
  }

  promise(slot: number, nowMs: number, random: Random): number {
    const rest = this.#rests.get(slot);
    if (rest === undefined) return 1;
    const { latencyMs } = rest.odds;
    const speed = latencyMs === 0 || this.latencyMs === 0 ? 1 : this.latencyMs / latencyMs;
    return (drawOdds(rest.odds, nowMs, random) ** 2 * speed) / (rest.pending + 1);
  }
}

/** One try through an exit at a site. */
export interface Visit {
  /** The answer has come, or none will: the rest begins. */
  answered(nowMs: number): void;
  /** What the answer says, once that is known; the first word counts. @param latencyMs time to its first byte */
  learn(said: Said, latencyMs: number | null, nowMs: number): void;
  /** The exchange is over. */
  end(nowMs: number): void;
}

/** The rest that exits of a pool take from a site, as far as that was learnt. */
export interface LearntPace {
  readonly site: string;
  readonly pool: string;
  readonly spacingMs: number;
}

const silent = (): void => undefined;
const noVisit: Visit = { answered: silent, learn: silent, end: silent };

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
    return visit(at, rest, nowMs);
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

function meanRest(beforeMs: number, restMs: number): number {
  return beforeMs === 0 ? restMs : beforeMs + REST_WEIGHT * (restMs - beforeMs);
}

function newRest(): Rest {
  return { lastMs: -Infinity, pending: 0, factor: 1, wasGood: false, meanRestMs: 0, odds: noOdds };
}

function visit(at: PoolAtSite, rest: Rest, nowMs: number): Visit {
  const restMs = rest.pending > 0 ? 0 : nowMs - rest.lastMs;
  const { wasGood } = rest;
  rest.lastMs = nowMs;
  rest.pending++;
  at.inFlight++;
  let isAnswered = false;
  let isOver = false;
  let isLearnt = false;
  const answered = (endMs: number): void => {
    if (isAnswered) return;
    isAnswered = true;
    rest.pending--;
    rest.lastMs = endMs;
  };
  return {
    answered,
    learn: (said, latencyMs, endMs) => {
      if (isLearnt) return;
      isLearnt = true;
      learn(at, rest, { said, restMs, wasGood, latencyMs, nowMs: endMs });
    },
    end: (endMs) => {
      answered(endMs);
      if (isOver) return;
      isOver = true;
      at.inFlight--;
    },
  };
}

function learn(
  at: PoolAtSite,
  rest: Rest,
  seen: {
    readonly said: Said;
    readonly restMs: number;
    readonly wasGood: boolean;
    readonly latencyMs: number | null;
    readonly nowMs: number;
  },
): void {
  const { said, latencyMs, nowMs } = seen;
  const isGood = said === 'good' || said === 'reached';
  rest.odds = oddsAfter(rest.odds, { isGood, latencyMs: isGood ? latencyMs : null }, nowMs);
  if (isGood && latencyMs !== null)
    at.latencyMs =
      at.latencyMs === 0 ? latencyMs : at.latencyMs + LATENCY_WEIGHT * (latencyMs - at.latencyMs);
  if (said === 'failed' || said === 'reached') return;
  rest.wasGood = isGood;
  const meanRestMs = rest.meanRestMs === 0 ? seen.restMs : rest.meanRestMs;
  const answer = { restMs: seen.restMs, meanRestMs, factor: rest.factor, nowMs };
  if (seen.wasGood) rest.meanRestMs = meanRest(rest.meanRestMs, seen.restMs);
  if (!isGood) rest.meanRestMs = 0;
  if (isGood) {
    if (Number.isFinite(seen.restMs)) at.learnt.good(answer);
    rest.factor = 1 + (rest.factor - 1) * FACTOR_DOWN;
    return;
  }
  // An exit that was refused before, or never served, is refused for another reason than its pace.
  if (!seen.wasGood || !Number.isFinite(seen.restMs)) return;
  if (rest.factor < FACTOR_OWN) at.learnt.refused(answer);
  rest.factor = Math.min(MOST_FACTOR, rest.factor * FACTOR_UP);
}
