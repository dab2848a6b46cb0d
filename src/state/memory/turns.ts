/** Turns in this process: the meaning of the port in the plainest words. */
import { dropEldest } from '../../core/eldest.js';
import type { Clock } from '../../core/clock.js';
import type { Random } from '../../core/random.js';
import type { Turn, TurnAnswer, Turns } from '../ports.js';

const MAX_TURNS = 100_000;

/** Turns in a map. */
export class MemoryTurns implements Turns {
  /** `id` is null while a turn rests. */
  readonly #held = new Map<string, { readonly id: string | null; readonly untilMs: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  async take(key: string, holdMs: number): Promise<TurnAnswer> {
    const nowMs = this.clock.nowMs();
    const held = this.#live(key, nowMs);
    if (held !== null)
      return { kind: held.id === null ? 'resting' : 'busy', waitMs: Math.ceil(held.untilMs - nowMs) };
    const turn = { key, id: this.random.hex(16) };
    this.#hold(key, turn.id, nowMs + holdMs);
    return { kind: 'taken', turn };
  }

  async end({ key, id }: Turn, restMs: number): Promise<boolean> {
    const nowMs = this.clock.nowMs();
    const held = this.#live(key, nowMs);
    if (held !== null && held.id !== id) return false;
    this.#held.delete(key);
    if (restMs > 0) this.#hold(key, null, nowMs + restMs);
    return true;
  }

  #hold(key: string, id: string | null, untilMs: number): void {
    this.#held.delete(key);
    this.#held.set(key, { id, untilMs });
    if (this.#held.size > MAX_TURNS) dropEldest(this.#held);
  }

  #live(key: string, nowMs: number): { readonly id: string | null; readonly untilMs: number } | null {
    const held = this.#held.get(key);
    return held !== undefined && nowMs < held.untilMs ? held : null;
  }
}
