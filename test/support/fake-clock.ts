/** A clock that stands still until the test moves it. */
import type { Clock, Timer } from '../../src/core/clock.js';

interface Wait {
  readonly dueMs: number;
  readonly fire: () => void;
}

/** Time under the test's hand; monotonic and wall time move together. */
export class FakeClock implements Clock {
  private now = 1000;
  private waits: Wait[] = [];

  nowMs(): number {
    return this.now;
  }

  wallMs(): number {
    return 1_700_000_000_000 + this.now;
  }

  after(ms: number, fire: () => void): Timer {
    const wait: Wait = { dueMs: this.now + ms, fire };
    this.waits.push(wait);
    return { cancel: () => (this.waits = this.waits.filter((each) => each !== wait)) };
  }

  /** Moves time on and calls what falls due, in order, each at its own time. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const next = this.waits.filter((wait) => wait.dueMs <= end).sort((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined) break;
      this.waits = this.waits.filter((wait) => wait !== next);
      this.now = Math.max(this.now, next.dueMs);
      next.fire();
    }
    this.now = end;
  }

  /** How many waits are armed. */
  get pending(): number {
    return this.waits.length;
  }
}
