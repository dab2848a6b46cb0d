/** A store far away: calls take time, and calls that are under way together arrive in any order. */
import type { Random } from '../../src/core/random.js';
import type { HeldPin, Pin, PinQuery, Pins } from '../../src/state/ports.js';

export class DelayedPins implements Pins {
  #waiting: (() => void)[] = [];

  constructor(
    private readonly near: Pins,
    private readonly random: Random,
  ) {}

  async find(key: string, ttlMs: number): Promise<Pin | null> {
    await this.#travel();
    return this.near.find(key, ttlMs);
  }

  async bind(key: string, exit: string, ttlMs: number): Promise<Pin> {
    await this.#travel();
    return this.near.bind(key, exit, ttlMs);
  }

  async move(key: string, from: Pin, move: { readonly exit: string; readonly ttlMs: number }): Promise<Pin> {
    await this.#travel();
    return this.near.move(key, from, move);
  }

  async drop(key: string): Promise<boolean> {
    await this.#travel();
    return this.near.drop(key);
  }

  async list(query: PinQuery): Promise<readonly HeldPin[]> {
    await this.#travel();
    return this.near.list(query);
  }

  async countOn(exits: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
    await this.#travel();
    return this.near.countOn(exits);
  }

  #travel(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      setImmediate(() => {
        this.#deliverOne();
      });
    });
  }

  #deliverOne(): void {
    const [arrived] = this.#waiting.splice(this.random.below(this.#waiting.length), 1);
    arrived?.();
  }
}
