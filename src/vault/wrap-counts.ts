/** How many keys each key of keys has wrapped: told to the store in batches, with an alarm long before it wears out. */
import type { Emit } from '../core/events.js';
import type { KeyRecords, KeyRow } from '../storage/ports.js';

/** Nonces are random: far below 2^32 of them, no two meet. */
export const WRAPS_ALARM = 2 ** 28;

/** Counts of one process. */
export class WrapCounts {
  #pending = new Map<string, number>();
  readonly #told = new Set<string>();

  constructor(
    private readonly keys: Pick<KeyRecords, 'addWraps'>,
    private readonly emit: Emit,
  ) {}

  add(id: string, count: number): void {
    this.#pending.set(id, this.of(id) + count);
  }

  /** What the store doesn't know yet. */
  of(id: string): number {
    return this.#pending.get(id) ?? 0;
  }

  /** Tells the store. What it doesn't take is kept. */
  async flush(): Promise<void> {
    for (const [id, count] of [...this.#pending]) {
      await this.keys.addWraps(id, count);
      const rest = this.of(id) - count;
      if (rest === 0) this.#pending.delete(id);
      else this.#pending.set(id, rest);
    }
  }

  /** Raises the alarm, once for each key. */
  check(rows: readonly KeyRow[]): void {
    for (const { id, term, wraps } of rows) {
      if (wraps < WRAPS_ALARM || this.#told.has(id)) continue;
      this.#told.add(id);
      this.emit({ type: 'key_worn', term, wraps });
    }
  }
}
