/** What choosing gives: candidates, or why there are none. Times are the store's. */
import type { CandidateList } from './candidate-list.js';

/** One that may be given out. */
export interface Candidate {
  readonly id: string;
  readonly key: string;
}

export type Choice =
  /** Best first. */
  | { readonly kind: 'candidates'; readonly candidates: readonly Candidate[] }
  | {
      readonly kind: 'none';
      readonly why: 'no_match' | 'resting' | 'held' | 'limited';
      /** When the first of those that rest or are limited is back, by the store's clock; null where that is not known. */
      readonly untilMs: number | null;
    };

/** So many that rest are looked at to say when one is back. */
const MOST_LOOKED_AT = 10_000;

/** All that may be used are held or limited. */
export function allTaken(limited: ReadonlyMap<number, number>): Choice {
  if (limited.size === 0) return { kind: 'none', why: 'held', untilMs: null };
  return { kind: 'none', why: 'limited', untilMs: soonest([...limited.values()].slice(0, MOST_LOOKED_AT)) };
}

function soonest(untils: readonly number[]): number | null {
  const first = untils.reduce((least, untilMs) => Math.min(least, untilMs), Infinity);
  return first === Infinity ? null : first;
}

/** None may be used. @param untilOf when one that rests is back; Infinity where that is not known */
export function allRest(list: CandidateList, untilOf: (slot: number) => number): Choice {
  return { kind: 'none', why: 'resting', untilMs: soonest(list.some(MOST_LOOKED_AT).map(untilOf)) };
}
