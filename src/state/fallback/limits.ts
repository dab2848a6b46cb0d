/**
 * Rates of a fleet, taken a few at a time so that most requests cost no call; while the store is away each gateway keeps
 * to its part of the rate.
 */
import type { Clock } from '../../core/clock.js';
import { shareOfRate, type Rate } from '../../facts/limit.js';
import { MemoryLimits } from '../memory/limits.js';
import { StoreAway } from '../ports.js';
import type { LimitHold, LimitPick, LimitPicked, Limits, LimitTake } from '../ports.js';

/** A gateway holds at most this share of a burst unused, and no more than so many. */
const BATCH_SHARE = 0.01;
const MAX_BATCH = 50;
/** What was taken and not used is lost after this time. */
const STOCK_MS = 1000;
const MAX_STOCKS = 100_000;

/** What near limits are made of. */
export interface NearLimitsParts {
  readonly far: Limits;
  readonly clock: Clock;
  isUp(): boolean;
  /** How many gateways there were when that was last known. */
  gateways(): number;
}

/** Rates near and far. */
export class NearLimits implements Limits {
  readonly #own: MemoryLimits;
  readonly #stocks = new Map<string, { left: number; readonly untilMs: number }>();

  constructor(private readonly parts: NearLimitsParts) {
    this.#own = new MemoryLimits(parts.clock);
  }

  /** `wanted` above 1 goes to the store as it is. */
  async take(key: string, rate: Rate, wanted: number): Promise<LimitTake> {
    const { far, clock } = this.parts;
    const stock = this.#stocks.get(key);
    if (stock !== undefined && wanted === 1 && stock.left > 0 && clock.nowMs() < stock.untilMs) {
      stock.left--;
      return { granted: 1, retryAfterMs: 0 };
    }
    if (this.parts.isUp()) {
      try {
        const batch = wanted === 1 ? batchOf(rate) : wanted;
        const taken = await far.take(key, rate, batch);
        if (wanted === 1 && taken.granted > 1) this.#stock(key, taken.granted - 1);
        return { ...taken, granted: Math.min(taken.granted, wanted) };
      } catch (error) {
        if (!(error instanceof StoreAway)) throw error;
      }
    }
    return this.#own.takeNow(key, shareOfRate(rate, this.parts.gateways()), wanted);
  }

  /** Always asks the store while it is there: what is picked has to be exact. */
  async pick(ask: LimitPick): Promise<LimitPicked> {
    if (this.parts.isUp()) {
      try {
        return await this.parts.far.pick(ask);
      } catch (error) {
        if (!(error instanceof StoreAway)) throw error;
      }
    }
    const part = (rate: Rate | null): Rate | null =>
      rate === null ? null : shareOfRate(rate, this.parts.gateways());
    return this.#own.pickNow({ ...ask, rate: part(ask.rate), each: part(ask.each) }, true);
  }

  async putBack(hold: LimitHold): Promise<void> {
    if (hold.isAlone) {
      this.#own.putBackNow(hold);
      return;
    }
    try {
      await this.parts.far.putBack(hold);
    } catch (error) {
      // What can't be given back comes back with time.
      if (!(error instanceof StoreAway)) throw error;
    }
  }

  #stock(key: string, left: number): void {
    if (this.#stocks.size >= MAX_STOCKS) this.#stocks.clear();
    const held = this.#stocks.get(key);
    const nowMs = this.parts.clock.nowMs();
    const kept = held !== undefined && nowMs < held.untilMs ? held.left : 0;
    this.#stocks.set(key, { left: left + kept, untilMs: nowMs + STOCK_MS });
  }
}

function batchOf(rate: Rate): number {
  return Math.min(Math.max(1, Math.floor((rate.burst ?? rate.count) * BATCH_SHARE)), MAX_BATCH);
}
