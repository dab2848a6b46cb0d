/** Ways through the members of a list, shared by the strategies. */
import type { Random } from '../core/random.js';
import type { Candidates, PickContext } from './strategies.js';

/** Up to this many members the rule of a strategy is exact; above, it holds among a sample. */
export const EXACT_MAX = 1000;
/** Size of the sample. */
export const SAMPLE = 32;

/** Position of the first usable member from `start` on, round the end once; -1 where there is none. */
export function scanFrom(candidates: Candidates, start: number): number {
  const { members } = candidates.list;
  for (let step = 0; step < members.length; step++) {
    const position = start + step < members.length ? start + step : start + step - members.length;
    if (candidates.isEligible(members[position] ?? 0)) return position;
  }
  return -1;
}

/** Index of the first usable member after a random place; -1 where there is none. */
export function scanFromChance(candidates: Candidates, chance: Random): number {
  const position = scanFrom(candidates, chance.below(candidates.list.members.length));
  return position < 0 ? -1 : (candidates.list.members[position] ?? -1);
}

/** How good an exit is, by its slot: less is better. */
export interface Score {
  (slot: number): number;
}

/**
 * The usable member with the lowest score; equals take turns. Exact up to {@link EXACT_MAX} members, above that among
 * a sample of {@link SAMPLE}, or the first usable one after a random place if the sample misses.
 * @param enough a score that can't be beaten ends the search
 */
export function lowest(candidates: Candidates, context: PickContext, score: Score, enough: number): number {
  const { key, members } = candidates.list;
  const isExact = members.length <= EXACT_MAX;
  const start = isExact ? context.cursors.at(key, members.length) : 0;
  const steps = isExact ? members.length : SAMPLE;
  let best = -1;
  let bestScore = Infinity;
  for (let step = 0; step < steps && (best < 0 || bestScore > enough); step++) {
    const position = isExact ? (start + step) % members.length : context.random.below(members.length);
    const index = members[position] ?? 0;
    const its = score(candidates.slots[index] ?? 0);
    if ((best >= 0 && its >= bestScore) || !candidates.isEligible(index)) continue;
    best = position;
    bestScore = its;
  }
  if (best < 0) return isExact ? -1 : scanFromChance(candidates, context.random);
  if (isExact) context.cursors.set(key, best + 1);
  return members[best] ?? -1;
}
