/** What is remembered of the tries at one site, and the arithmetic over it. What follows from it is the site guard's. */
import type { BadSiteWord } from '../facts/site-word.js';

/** Where a site stands. */
export type SiteState =
  | { readonly kind: 'watched' }
  | { readonly kind: 'down'; readonly sinceMs: number; readonly exits: number; nextCanaryMs: number }
  | { readonly kind: 'suspended'; readonly sinceMs: number; readonly exits: number; readonly rule: string };

/** The last try through an exit, which failed. */
export interface SiteFailure {
  readonly atMs: number;
  readonly rule: string | null;
}

/** One site. */
export interface Watch {
  state: SiteState;
  lastGoodMs: number;
  /** The last tries, newest in the lowest bit; 1 is a failure. */
  tries: number;
  count: number;
  /** Another gateway said that the site is down, when it had just been good here. */
  told: { readonly word: BadSiteWord; readonly untilMs: number } | null;
  /** Exits whose last try here failed, the longest ago first. */
  readonly failed: Map<number, SiteFailure>;
}

/** How many of the last tries the share is taken of. */
export const RECENT_TRIES = 20;
const MOST_EXITS = 64;

/** A site of which nothing is guarded. */
export const WATCHED: SiteState = { kind: 'watched' };

/** A site that was never tried. */
export function newWatch(): Watch {
  return { state: WATCHED, lastGoodMs: -Infinity, told: null, tries: 0, count: 0, failed: new Map() };
}

/** Notes a try through an exit; `failure` null: it was good. */
export function noteTry(watch: Watch, exit: number, failure: SiteFailure | null): void {
  watch.tries = (watch.tries << 1) | (failure === null ? 0 : 1);
  watch.count = Math.min(watch.count + 1, RECENT_TRIES);
  watch.failed.delete(exit);
  if (failure === null) return;
  watch.failed.set(exit, failure);
  if (watch.failed.size <= MOST_EXITS) return;
  for (const oldest of watch.failed.keys()) {
    watch.failed.delete(oldest);
    return;
  }
}

/** Share of failures among the last tries. */
export function shareOf({ tries, count }: Watch): number {
  let failures = 0;
  for (let index = 0; index < count; index++) failures += (tries >>> index) & 1;
  return count === 0 ? 0 : failures / count;
}

/** The one rule that at least so many failures come from; undefined where there is none. */
export function ruleBehind(failures: Iterable<SiteFailure>, atLeast: number): string | undefined {
  const counts = new Map<string, number>();
  for (const { rule } of failures) if (rule !== null) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  for (const [rule, count] of counts) if (count >= atLeast) return rule;
  return undefined;
}
