/** A clock that goes only when the test says so; timers fire in order on the way. */
import type { Clock, Timer } from '../../src/core/clock.js';

export class ManualClock implements Clock {
  #nowMs: number;
  readonly #timers = new Set<{ dueMs: number; fn: () => void }>();

  constructor(startMs = 1_000_000) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return 1_700_000_000_000 + this.#nowMs;
  }

  after(ms: number, fn: () => void): Timer {
    const timer = { dueMs: this.#nowMs + ms, fn };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  advance(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = [...this.#timers]
        .filter(({ dueMs }) => dueMs <= untilMs)
        .sort((a, b) => a.dueMs - b.dueMs)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#nowMs = due.dueMs;
      due.fn();
    }
    this.#nowMs = untilMs;
  }
}
