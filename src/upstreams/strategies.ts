/**
 * The strategies of a pool, behind one method: among the members that may be used, which one is next.
 * What may be used is asked lazily, so that nobody builds a list of ten thousand exits for one request.
 * Every strategy finds an exit as long as one may be used.
 */
import type { Random } from '../core/random.js';
import { adaptive, fastest, leastRecentlyUsedPerSite, leastUsed } from './measured-strategies.js';
import type { LedgerView, MemberList, PaceView, StrategyName } from './pool.js';
import { EXACT_MAX, SAMPLE, scanFrom, scanFromChance } from './scan.js';

/** Where round robin stands, list by list. Lives with the ledger, so that a reload doesn't begin again. */
export class Cursors {
  readonly #positions = new Map<string, number>();

  /** The position of the next candidate in a list of `length` members. */
  at(key: string, length: number): number {
    const position = this.#positions.get(key) ?? 0;
    return position < length ? position : 0;
  }

  set(key: string, position: number): void {
    this.#positions.set(key, position);
  }

  /** Forgets the lists of all pools but these, after a reload. */
  keep(pools: ReadonlySet<string>): void {
    for (const key of this.#positions.keys()) {
      if (!pools.has(key.slice(0, key.indexOf('\n')))) this.#positions.delete(key);
    }
  }
}

/** Who may be picked. */
export interface Candidates {
  readonly list: MemberList;
  /** Ledger slots by index in the pool. */
  readonly slots: Uint32Array;
  /** Whether the exit with this index in the pool may be used for the request. */
  isEligible(index: number): boolean;
}

/** What picking needs besides. */
export interface PickContext {
  readonly site: string;
  readonly view: LedgerView;
  readonly cursors: Cursors;
  readonly random: Random;
  readonly nowMs: number;
  /** Null in a pool without pacing. */
  readonly pace: PaceView | null;
}

/** @returns index in the pool, -1 where nobody may be used */
export type Pick = (candidates: Candidates, context: PickContext) => number;

/** Each member in turn; who may not be used is passed over and the turn goes on from there. Exact at every size. */
function roundRobin(candidates: Candidates, context: PickContext): number {
  const { key, members } = candidates.list;
  const start = context.cursors.at(key, members.length);
  const position = scanFrom(candidates, start);
  if (position < 0) return -1;
  context.cursors.set(key, position + 1);
  return members[position] ?? -1;
}

/**
 * Every usable member with the same chance: drawn until one may be used, at most 32 times.
 * If all draws miss: exact up to 1000 members, above that the first usable one after a random place.
 */
function random(candidates: Candidates, context: PickContext): number {
  const { members } = candidates.list;
  for (let draw = 0; draw < SAMPLE; draw++) {
    const index = members[context.random.below(members.length)] ?? -1;
    if (index >= 0 && candidates.isEligible(index)) return index;
  }
  if (members.length <= EXACT_MAX) return drawExactly(candidates, context.random, () => 1);
  return scanFromChance(candidates, context.random);
}

/**
 * Usable members by the share of their weights: drawn until one may be used, at most 32 times.
 * If all draws miss: exact up to 1000 members, above that the first usable one after a random place.
 */
function weightedRandom(candidates: Candidates, context: PickContext): number {
  const { members, cumulative } = candidates.list;
  const total = cumulative[cumulative.length - 1] ?? 0;
  for (let draw = 0; draw < SAMPLE; draw++) {
    const index = members[positionOfWeight(cumulative, context.random.float() * total)] ?? -1;
    if (index >= 0 && candidates.isEligible(index)) return index;
  }
  if (members.length > EXACT_MAX) return scanFromChance(candidates, context.random);
  const weightOf = (position: number): number =>
    (cumulative[position] ?? 0) - (position === 0 ? 0 : (cumulative[position - 1] ?? 0));
  return drawExactly(candidates, context.random, weightOf);
}

/** All strategies, by name. */
export const strategies: Readonly<Record<StrategyName, Pick>> = {
  round_robin: roundRobin,
  random,
  weighted_random: weightedRandom,
  least_used: leastUsed,
  least_recently_used_per_site: leastRecentlyUsedPerSite,
  fastest,
  adaptive,
  // A request that has a key never comes here: `choose` looks it up. One without is spread.
  hash: random,
};

/** One pass over all members that keeps each usable one by its share so far (reservoir of one). */
function drawExactly(candidates: Candidates, chance: Random, weightOf: (position: number) => number): number {
  let kept = -1;
  let sum = 0;
  candidates.list.members.forEach((index, position) => {
    if (!candidates.isEligible(index)) return;
    const weight = weightOf(position);
    sum += weight;
    if (chance.float() * sum < weight) kept = index;
  });
  return kept;
}

/** First position whose running sum is above `value`. */
function positionOfWeight(cumulative: Float64Array, value: number): number {
  let low = 0;
  let high = cumulative.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((cumulative[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
