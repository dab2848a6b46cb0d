/** Rates in this process. */
import type { Clock } from '../../core/clock.js';
import { givenBack, takeUpTo, type Rate } from '../../facts/limit.js';
import type { LimitHold, LimitPick, LimitPicked, Limits, LimitTake } from '../ports.js';

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

  async pick(ask: LimitPick): Promise<LimitPicked> {
    return this.pickNow(ask, false);
  }

  /** The same, at once. @param isAlone as what is picked says it */
  pickNow({ group, rate, candidates, each }: LimitPick, isAlone: boolean): LimitPicked {
    const common = this.#takeOne(group, rate);
    if (common > 0) return { kind: 'limited', which: 'group', retryAfterMs: common };
    const waits: number[] = [];
    for (const candidate of candidates) {
      const waitMs = this.#takeOne(keyOf(group, candidate), each);
      if (waitMs === 0) return { kind: 'picked', hold: { group, rate, each, candidate, isAlone }, waits };
      waits.push(waitMs);
    }
    this.#giveBack(group, rate);
    return { kind: 'limited', which: 'candidates', waits };
  }

  async putBack(hold: LimitHold): Promise<void> {
    this.putBackNow(hold);
  }

  /** The same, at once. */
  putBackNow({ group, rate, candidate, each }: LimitHold): void {
    this.#giveBack(group, rate);
    this.#giveBack(keyOf(group, candidate), each);
  }

  /** Time until one is free; 0: it was taken. */
  #takeOne(key: string, rate: Rate | null): number {
    return rate === null ? 0 : this.takeNow(key, rate, 1).retryAfterMs;
  }

  #giveBack(key: string, rate: Rate | null): void {
    const fullAtMs = this.#fullAtMs.get(key);
    if (rate !== null && fullAtMs !== undefined) this.#fullAtMs.set(key, givenBack(rate, fullAtMs));
  }

  #bound(nowMs: number): void {
    for (const [key, fullAtMs] of this.#fullAtMs) {
      if (fullAtMs > nowMs && this.#fullAtMs.size <= this.maxKeys) return;
      this.#fullAtMs.delete(key);
    }
  }
}

/** No name of a group has a line's end in it. */
const keyOf = (group: string, candidate: string): string => `${group}\n${candidate}`;
