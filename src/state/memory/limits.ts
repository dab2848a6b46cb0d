/** Rates in this process. */
import type { Clock } from '../../core/clock.js';
import { takeUpTo, type Rate } from '../../facts/limit.js';
import type { Limits, LimitTake } from '../ports.js';

const DEFAULT_MAX_KEYS = 100_000;

/** Rates in a map: one number a key, those that are whole again dropped first. */
export class MemoryLimits implements Limits {
  readonly #fullAtMs = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly maxKeys: number = DEFAULT_MAX_KEYS,
  ) {}

  async take(key: string, rate: Rate, wanted: number): Promise<LimitTake> {
    return this.takeNow(key, rate, wanted);
  }

  /** The same, at once. */
  takeNow(key: string, rate: Rate, wanted: number): LimitTake {
    const nowMs = this.clock.nowMs();
    const use = { fullAtMs: this.#fullAtMs.get(key) ?? 0, wanted };
    const { granted, fullAtMs, retryAfterMs } = takeUpTo(rate, use, nowMs);
    if (granted > 0) {
      this.#fullAtMs.delete(key);
      this.#fullAtMs.set(key, fullAtMs);
      this.#bound(nowMs);
    }
    return { granted, retryAfterMs };
  }

  #bound(nowMs: number): void {
    for (const [key, fullAtMs] of this.#fullAtMs) {
      if (fullAtMs > nowMs && this.#fullAtMs.size <= this.maxKeys) return;
      this.#fullAtMs.delete(key);
    }
  }
}
