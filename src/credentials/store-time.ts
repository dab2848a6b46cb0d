/** What the store's clock says, as far as this gateway can know: its own, moved by what the store said last. */
import type { Clock } from '../core/clock.js';

export class StoreTime {
  #aheadMs = 0;

  constructor(private readonly clock: Clock) {}

  /** Milliseconds since 1970 by the store's clock; off by what an answer takes. */
  nowMs(): number {
    return this.clock.wallMs() + this.#aheadMs;
  }

  /** The store's clock said this just now. */
  heard(storeMs: number): void {
    this.#aheadMs = storeMs - this.clock.wallMs();
  }
}
