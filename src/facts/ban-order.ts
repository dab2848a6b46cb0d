/**
 * Which of two words about one ban holds, when gateways say them in any order and more than once.
 * A lift is a word like a ban, with an end in the past, so that a late ban can't undo it.
 */

/** What orders words about the ban of one exit at one site. */
export interface BanWord {
  /** 1 for the first word; each word that was said in knowledge of another has one more. */
  readonly version: number;
  /** End of the ban by a clock that both words share, or time left where they are compared at one moment. */
  readonly untilMs: number;
  /** Who said it: a word is told from its own repetition by this. */
  readonly by: string;
}

/** Largest version that is believed. */
export const MAX_VERSION = 2 ** 40;

/**
 * Whether `next` takes the place of `held`. Of two words that knew nothing of each other the longer ban holds; a
 * repetition never does, since its time is measured anew with each travel.
 */
export function supersedes(next: BanWord, held: BanWord): boolean {
  if (next.version !== held.version) return next.version > held.version;
  if (next.by === held.by) return false;
  return next.untilMs > held.untilMs || (next.untilMs === held.untilMs && next.by > held.by);
}

/** The version of a word that is said in knowledge of `known`; null: of none. */
export function nextVersion(known: number | null): number {
  return Math.min((known ?? 0) + 1, MAX_VERSION);
}
