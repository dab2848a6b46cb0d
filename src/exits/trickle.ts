/** Lets one request through in a while, for each name by itself: what an exhausted pool is still used for. */

const MOST_NAMES = 10_000;

/** Bounded: when there are too many names, all are forgotten, which lets one more of each through. */
export class Trickle {
  readonly #nextMs = new Map<string, number>();

  /** @param everyMs time between two */
  constructor(private readonly everyMs: number) {}

  /** Whether one may go now; it then counts as gone. */
  take(name: string, nowMs: number): boolean {
    if (nowMs < (this.#nextMs.get(name) ?? -Infinity)) return false;
    if (this.#nextMs.size >= MOST_NAMES) this.#nextMs.clear();
    this.#nextMs.set(name, nowMs + this.everyMs);
    return true;
  }
}
