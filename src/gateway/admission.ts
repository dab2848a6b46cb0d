/**
 * Whether a request may begin, or the gateway has as much to do as it can: what can't be done soon is refused at once,
 * so that what was begun is finished. Must not know what is asked for, nor by whom.
 */
import type { Failure } from '../core/errors.js';
import type { Limits } from '../routing/runtime.js';

/** What is counted, and in what time. */
export interface AdmissionParts {
  readonly limits: () => Limits;
  /** How many of those that began are relays by now: they cost little, and have limits of their own. */
  readonly relays: () => number;
  /** Calls back when everything that is ready now has been seen to. */
  readonly afterTurn: (callback: () => void) => void;
}

/** Counts what is under way. */
export class Admission {
  private running = 0;
  private waiting = 0;
  /** When the first request of this turn of the event loop was read, or -1. */
  private turnMs = -1;

  constructor(private readonly parts: AdmissionParts) {}

  /**
   * Why a request that was read at `nowMs` can't be served, or null. Requests that were ready together are read in one
   * turn of the loop, one after the other: the time since the first is what this one has waited, unseen by any other clock.
   */
  refusal(nowMs: number): Failure | null {
    const { exchanges, loopDelayMs } = this.parts.limits();
    if (this.turnMs < 0) {
      this.turnMs = nowMs;
      this.parts.afterTurn(this.turnOver);
    } else if (nowMs - this.turnMs > loopDelayMs) return BEHIND;
    return this.running - this.parts.relays() >= exchanges ? FULL : null;
  }

  /** Requests under way. */
  get underWay(): number {
    return this.running;
  }

  /** One that was not refused begins. */
  begin(): void {
    this.running++;
  }

  /** It is over. */
  end(): void {
    this.running--;
  }

  /** Whether one more may wait for an exit; who may says `waits(-1)` when it is over. */
  mayWait(): boolean {
    return this.waiting < this.parts.limits().waiting;
  }

  /** So many more wait for an exit, or fewer. */
  waits(change: 1 | -1): void {
    this.waiting += change;
  }

  private readonly turnOver = (): void => {
    this.turnMs = -1;
  };
}

const BEHIND: Failure = { code: 'overloaded', detail: 'limits.loop_delay is reached.', retryAfterMs: 1000 };
const FULL: Failure = { code: 'overloaded', detail: 'limits.exchanges is reached.', retryAfterMs: 1000 };
