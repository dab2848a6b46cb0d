/** Numbers that come up at a time, the soonest first. PURE: a binary heap in two arrays; who comes up twice is asked twice. */

export class WakeHeap {
  readonly #times: number[] = [];
  readonly #slots: number[] = [];

  get size(): number {
    return this.#times.length;
  }

  push(atMs: number, slot: number): void {
    let place = this.#times.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if ((this.#times[above] ?? 0) <= atMs) break;
      this.#copy(above, place);
      place = above;
    }
    this.#times[place] = atMs;
    this.#slots[place] = slot;
  }

  /** The soonest one whose time has come; null where there is none. */
  popDue(nowMs: number): number | null {
    const slot = this.#slots[0];
    if (slot === undefined || (this.#times[0] ?? Infinity) > nowMs) return null;
    const atMs = this.#times.pop() ?? 0;
    const last = this.#slots.pop() ?? 0;
    if (this.#times.length > 0) this.#sink(atMs, last);
    return slot;
  }

  #sink(atMs: number, slot: number): void {
    const size = this.#times.length;
    let place = 0;
    for (let below = 1; below < size; below = 2 * place + 1) {
      if (below + 1 < size && (this.#times[below + 1] ?? 0) < (this.#times[below] ?? 0)) below++;
      if ((this.#times[below] ?? 0) >= atMs) break;
      this.#copy(below, place);
      place = below;
    }
    this.#times[place] = atMs;
    this.#slots[place] = slot;
  }

  #copy(from: number, to: number): void {
    this.#times[to] = this.#times[from] ?? 0;
    this.#slots[to] = this.#slots[from] ?? 0;
  }
}
