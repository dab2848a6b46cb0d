/** The best answer of an exchange so far, kept unread while another exit is tried, in case that brings nothing better. */
import { isBetter, isDeliverable } from '../outcome/best-answer.js';
import type { Verdict } from '../outcome/classify.js';
import type { Try } from './attempt.js';
import type { Visit } from '../exits/pool-at-site.js';
import type { Exit } from './pick-exit.js';

/** A try with what it proved. */
export interface JudgedTry {
  readonly made: Try;
  readonly verdict: Verdict;
  readonly exit: Exit;
  readonly visit: Visit;
  /** To the head of the answer, or the fault. */
  readonly tookMs: number;
}

/** At most one answer. */
export class HeldAnswer {
  private held: JudgedTry | null = null;

  /** Another exit will be tried: this answer is kept, or the one that is kept already. */
  keep(last: JudgedTry): void {
    if (!isDeliverable(last.verdict) || (this.held !== null && isBetter(this.held.verdict, last.verdict))) {
      last.made.discard();
      return;
    }
    this.held?.made.discard();
    this.held = last;
  }

  /** No other exit will be tried: the kept answer, if it is better than the last; the other one is discarded. */
  better(last: JudgedTry): JudgedTry | null {
    const { held } = this;
    if (held === null || !isBetter(held.verdict, last.verdict)) return null;
    this.held = null;
    last.made.discard();
    return held;
  }

  /** The exchange is over. */
  discard(): void {
    this.held?.made.discard();
    this.held = null;
  }
}
