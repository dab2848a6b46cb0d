/** Bans as the gateways make them: exits that sites refuse, longer each time, and words that Redis remembers of it. */
import { banMs, noBan, struck, type BanState } from '../../src/facts/ban.js';
import type { Random } from '../../src/core/random.js';

/** As `bans` of the configuration has it. */
const times = { baseMs: 3_600_000, capMs: 86_400_000, jitter: 0.2 };
const KEEP_MS = times.capMs;
const MAX_WORDS = 16 * 20_000;

/** The bans of the fleet. */
export class BanLife {
  readonly #states = new Map<number, BanState>();
  #said = 0;

  constructor(
    private readonly pairs: number,
    private readonly random: Random,
  ) {}

  /** All bans that were made. */
  get said(): number {
    return this.#said;
  }

  /** One exit is refused by one site. Whether that was news: one that is out already is not used there. */
  ban(nowMs: number): boolean {
    const pair = this.random.below(this.pairs);
    const state = this.#states.get(pair) ?? noBan;
    if (nowMs < state.untilMs) return false;
    const forMs = banMs(state.strikes + 1, times, this.random.float());
    this.#states.set(pair, struck(state, forMs, { reason: 'blocked', nowMs }));
    this.#said++;
    return true;
  }

  /** Bans that are on, and words that are remembered. Forgets the rest. */
  count(nowMs: number): { on: number; words: number } {
    let on = 0;
    for (const [pair, { untilMs }] of this.#states) {
      if (untilMs > nowMs) on++;
      else if (untilMs + KEEP_MS <= nowMs) this.#states.delete(pair);
    }
    return { on, words: Math.min(this.#states.size, MAX_WORDS) };
  }
}
