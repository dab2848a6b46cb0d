/**
 * One pool at one site: which exits have rested, which go ahead as scouts, and what an answer teaches. It reads no clock.
 */
import type { Random } from '../core/random.js';
import { smoothed } from '../core/smoothed.js';
import { drawOdds, noOdds, oddsAfter, type Odds } from '../facts/odds.js';
import { SitePace } from '../facts/pace.js';
import type { PaceView, Pacing } from '../upstreams/pool.js';

/**
 * What an answer says: the site was content or refused; the way failed, or it held, and nobody can see the site's answer.
 */
export type Said = 'good' | 'refused' | 'failed' | 'reached';

/** An exit at a site. */
export interface Rest {
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

const MOST_FACTOR = 8;
const FACTOR_UP = 1.5;
const FACTOR_DOWN = 0.8;
/** Below this an exit speaks for the site, above for itself alone. */
const FACTOR_OWN = 1.2;
/** One exit in so many is a scout, */
const LEAST_TO_SCOUT = 20;
/** but no more of a pool than these. */
const MOST_SCOUTS = 16;
const REST_WEIGHT = 0.3;
const LATENCY_WEIGHT = 0.05;

/** One pool at one site: what choosing asks about. */
export class PoolAtSite implements PaceView {
  readonly #rests: Map<number, Rest>;
  #pacing: Pacing;
  readonly learnt: SitePace;
  /** Exits that are used sooner than others while the pace is looked for, so that few are refused and not all. */
  readonly #scouts = new Set<number>();
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
    return rest.lastMs + (this.isLearning ? (spacingMs * rest.factor) / this.hasteOf(slot) : spacingMs);
  }

  /** How much sooner than others the exit is to be used again. */
  hasteOf(slot: number): number {
    return this.#scouts.has(slot) ? this.learnt.haste : 1;
  }

  /** An exit goes out: it becomes a scout where one is missing, or in place of one that isn't used any more. */
  appoint(slot: number, restMs: number, pool: { readonly exits: number; readonly nowMs: number }): void {
    if (!this.isLearning || pool.exits < LEAST_TO_SCOUT || this.learnt.haste === 1) return;
    const [eldest] = this.#scouts;
    const usedMs = eldest === undefined ? 0 : (this.#rests.get(eldest)?.lastMs ?? -Infinity);
    if (eldest !== undefined && Number.isFinite(restMs) && pool.nowMs - usedMs > restMs)
      this.#scouts.delete(eldest);
    if (this.#scouts.size < Math.min(MOST_SCOUTS, pool.exits / LEAST_TO_SCOUT)) this.#scouts.add(slot);
  }

  dismiss(slot: number): void {
    this.#scouts.delete(slot);
  }

  lastUsedMs(slot: number): number {
    return this.#rests.get(slot)?.lastMs ?? -Infinity;
  }

  promise(slot: number, nowMs: number, random: Random): number {
    const rest = this.#rests.get(slot);
    if (rest === undefined) return 1;
    const { latencyMs } = rest.odds;
    const speed = latencyMs === 0 || this.latencyMs === 0 ? 1 : this.latencyMs / latencyMs;
    return (drawOdds(rest.odds, nowMs, random) ** 2 * speed * this.hasteOf(slot)) / (rest.pending + 1);
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
  /** It never was. @param lastMs when another gateway used the exit last; null: nobody else did */
  withdraw(lastMs: number | null): void;
}

/** An exit that the site has not seen. */
export function newRest(): Rest {
  return { lastMs: -Infinity, pending: 0, factor: 1, wasGood: false, meanRestMs: 0, odds: noOdds };
}

/** A request goes out through this exit. */
export function visit(
  at: PoolAtSite,
  rest: Rest,
  go: { readonly slot: number; readonly exits: number; readonly nowMs: number },
): Visit {
  const { slot, nowMs } = go;
  const restMs = rest.pending > 0 ? 0 : nowMs - rest.lastMs;
  const { wasGood, lastMs: beforeMs } = rest;
  const haste = at.hasteOf(slot);
  const isLed = haste === 1 && go.exits >= LEAST_TO_SCOUT;
  at.appoint(slot, restMs, go);
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
      if (said !== 'good' && said !== 'reached') at.dismiss(slot);
      learn(at, rest, { said, restMs, haste, isLed, wasGood, latencyMs, nowMs: endMs });
    },
    end: (endMs) => {
      answered(endMs);
      if (isOver) return;
      isOver = true;
      at.inFlight--;
    },
    withdraw: (otherMs) => {
      if (isOver) return;
      answered(Math.max(beforeMs, otherMs ?? -Infinity));
      isOver = isLearnt = true;
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
    readonly haste: number;
    readonly isLed: boolean;
    readonly wasGood: boolean;
    readonly latencyMs: number | null;
    readonly nowMs: number;
  },
): void {
  const { said, latencyMs, nowMs } = seen;
  const isGood = said === 'good' || said === 'reached';
  rest.odds = oddsAfter(rest.odds, { isGood, latencyMs: isGood ? latencyMs : null }, nowMs);
  if (isGood && latencyMs !== null) at.latencyMs = smoothed(at.latencyMs, latencyMs, LATENCY_WEIGHT);
  if (said === 'failed' || said === 'reached') return;
  rest.wasGood = isGood;
  const meanRestMs = rest.meanRestMs === 0 ? seen.restMs : rest.meanRestMs;
  const { haste, isLed } = seen;
  const answer = { restMs: seen.restMs, meanRestMs, factor: rest.factor, haste, isLed, nowMs };
  if (seen.wasGood) rest.meanRestMs = smoothed(rest.meanRestMs, seen.restMs, REST_WEIGHT);
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
