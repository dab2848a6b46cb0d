/** Work that is dear in threads and memory, a few at once: the rest waits in a bounded line, and not for long. */

/** How much is done and waits. */
export interface WorkBounds {
  readonly atOnce: number;
  /** Most in the line. */
  readonly most: number;
  /** What waited longer is given up. */
  readonly waitMs: number;
}

interface Waiting {
  readonly sinceMs: number;
  begin(isLate: boolean): void;
}

/** The line. */
export class WorkQueue {
  readonly #line: Waiting[] = [];
  #running = 0;

  constructor(
    private readonly bounds: WorkBounds,
    private readonly nowMs: () => number,
  ) {}

  /** How much waits. */
  get waiting(): number {
    return this.#line.length;
  }

  /** Does it when it is its turn; null where the line is full, or was too slow. */
  async run<T>(work: () => Promise<T>): Promise<T | null> {
    if (!(await this.#turn())) return null;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#next();
    }
  }

  #turn(): Promise<boolean> {
    const { atOnce, most } = this.bounds;
    if (this.#running < atOnce && this.#line.length === 0) {
      this.#running += 1;
      return Promise.resolve(true);
    }
    if (this.#line.length >= most) return Promise.resolve(false);
    return new Promise((resolve) => {
      this.#line.push({ sinceMs: this.nowMs(), begin: (isLate) => resolve(!isLate) });
    });
  }

  #next(): void {
    while (this.#running < this.bounds.atOnce) {
      const waiting = this.#line.shift();
      if (waiting === undefined) return;
      const isLate = this.nowMs() - waiting.sinceMs > this.bounds.waitMs;
      if (!isLate) this.#running += 1;
      waiting.begin(isLate);
    }
  }
}
