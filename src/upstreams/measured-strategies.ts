/** The strategies that go by what the ledger knows of each exit. */
import { lowest, scanFromChance } from './scan.js';
import type { Candidates, PickContext } from './strategies.js';

/** One in so many picks of `fastest` goes to any exit, so that one that has become fast is found again. */
const LOOK_AROUND = 32;
/** Behind every exit that has answered, before those that never did. */
const UNTRIED_BUT_BUSY = 1e9;

/**
 * The usable member with the fewest exchanges in flight; equals take turns.
 * Exact up to 1000 members, above that among a sample of 32, or the first usable one if the sample misses.
 */
export function leastUsed(candidates: Candidates, context: PickContext): number {
  return lowest(candidates, context, (slot) => context.view.inFlight(slot), 0);
}

/**
 * The usable member that has rested longest from this site; those that it has never seen first, in turn.
 * Exact up to 1000 members, above that among a sample of 32, or the first usable one if the sample misses.
 */
export function leastRecentlyUsedPerSite(candidates: Candidates, context: PickContext): number {
  const { view, site } = context;
  return lowest(candidates, context, (slot) => view.lastUsedMs(slot, site), -Infinity);
}

/**
 * The usable member with the lowest time to the first byte times (requests under way + 1), so that the fastest is not
 * buried. An exit that was never tried comes first, with one request at a time; one that never answered comes last.
 * One pick in 32 goes to any exit. Exact up to 1000 members, above that among a sample of 32, or the first usable one
 * if the sample misses.
 */
export function fastest(candidates: Candidates, context: PickContext): number {
  const { view, random } = context;
  if (random.below(LOOK_AROUND) === 0 && candidates.list.members.length > 0) {
    return scanFromChance(candidates, random);
  }
  const costMs = (slot: number): number => {
    const inFlight = view.inFlight(slot);
    const firstByteMs = view.firstByteMs(slot);
    if (firstByteMs > 0) return firstByteMs * (inFlight + 1);
    return inFlight === 0 ? 0 : UNTRIED_BUT_BUSY;
  };
  return lowest(candidates, context, costMs, 0);
}

/**
 * The usable member with the largest rest from this site times its promise: the odds of a good page there, drawn by chance
 * from what is known (Thompson sampling) and squared, and its speed beside the others'. So good exits take turns by
 * longest rest, bad and slow ones get few turns, and none is ever left out, since rest grows; one that the site has never
 * seen comes first. Exact up to 1000 members, above that among a sample of 32, or the first usable one if the sample misses.
 */
export function adaptive(candidates: Candidates, context: PickContext): number {
  const { pace, nowMs, random } = context;
  if (pace === null) return leastUsed(candidates, context);
  const score = (slot: number): number => {
    const usedMs = pace.lastUsedMs(slot);
    return usedMs === -Infinity ? -Infinity : (usedMs - nowMs) * pace.promise(slot, nowMs, random);
  };
  return lowest(candidates, context, score, -Infinity);
}
