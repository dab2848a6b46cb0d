/** Pins in Redis: one key each, under an HMAC of its session; the session's name lies sealed in the value. */
import { parsePinKey } from '../../facts/pin.js';
import type { HeldPin, Pin, PinQuery, TellingPins } from '../ports.js';
import { Smallest } from '../smallest.js';
import type { RedisKeys } from './keys.js';
import type { Link, Reply, ScannedEntry } from './link.js';
import { readPin, readWhole, writePin } from './records.js';

/** Most pins that one question of a person looks at. */
const MAX_SCANNED = 500_000;
const MAX_MESSAGE = 2000;

/** The pins of a fleet. */
export class RedisPins implements TellingPins {
  constructor(
    private readonly link: Link,
    private readonly keys: RedisKeys,
  ) {}

  async find(key: string, ttlMs: number): Promise<Pin | null> {
    const reply = await this.link.run('pin-find', [this.#keyOf(key)], [whole(ttlMs)]);
    if (reply[0] === 'odd') this.link.counts.ignored++;
    return reply[0] === 'pin' ? this.#pinIn(reply) : null;
  }

  async bind(key: string, exit: string, ttlMs: number): Promise<Pin> {
    const pin = { exit, generation: 1 };
    const value = writePin({ pin, sealed: this.keys.seal(key) });
    const reply = await this.link.run('pin-bind', [this.#keyOf(key)], [value, whole(ttlMs)]);
    return reply[0] === 'held' ? (this.#pinIn(reply) ?? pin) : pin;
  }

  async move(key: string, from: Pin, move: { readonly exit: string; readonly ttlMs: number }): Promise<Pin> {
    const pin = { exit: move.exit, generation: from.generation + 1 };
    const sealed = this.keys.seal(key);
    const value = writePin({ pin, sealed });
    const seen = [from.generation, from.exit, value, whole(move.ttlMs), this.keys.pinChannel, sealed];
    const reply = await this.link.run('pin-move', [this.#keyOf(key)], seen);
    return reply[0] === 'held' ? (this.#pinIn(reply) ?? pin) : pin;
  }

  async drop(key: string): Promise<boolean> {
    const message = [this.keys.pinChannel, this.keys.seal(key)];
    const [tag] = await this.link.run('pin-drop', [this.#keyOf(key)], message);
    return tag === 'dropped';
  }

  listen(hear: (key: string) => void): () => void {
    return this.link.listen({
      heard: (channel, message) => {
        if (channel !== this.keys.pinChannel) return;
        const key = message.length > MAX_MESSAGE ? null : this.keys.unseal(message);
        if (key === null) this.link.counts.ignored++;
        else hear(key);
      },
    });
  }

  async list(query: PinQuery): Promise<readonly HeldPin[]> {
    const page = new Smallest<HeldPin>(query.limit, ({ key }) => key);
    await this.#each(({ pin, sealed }, leftMs) => {
      if (query.exit !== null && pin.exit !== query.exit) return;
      const key = this.keys.unseal(sealed);
      if (key === null) {
        this.link.counts.ignored++;
        return;
      }
      if (query.after !== null && key <= query.after) return;
      if (query.client !== null && parsePinKey(key)?.client !== query.client) return;
      page.offer({ key, pin, leftMs });
    });
    return page.sorted();
  }

  async countOn(exits: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
    const seen = new Set<string>();
    const counts = new Map<string, number>();
    await this.#each(({ pin, sealed }) => {
      // SCAN may show a key twice.
      if (!exits.has(pin.exit) || seen.has(sealed)) return;
      seen.add(sealed);
      counts.set(pin.exit, (counts.get(pin.exit) ?? 0) + 1);
    });
    return counts;
  }

  async #each(look: (record: { pin: Pin; sealed: string }, leftMs: number) => void): Promise<void> {
    let left = MAX_SCANNED;
    await this.link.scan(this.keys.pinPattern, (entries: readonly ScannedEntry[]) => {
      for (const { value, leftMs } of entries) {
        const record = readPin(value);
        const ms = readWhole(leftMs);
        if (record !== null && ms !== null) look(record, ms);
        else if (value !== null) this.link.counts.ignored++;
      }
      left -= entries.length;
      return left > 0;
    });
  }

  #keyOf(key: string): string {
    return this.keys.pin(this.keys.hashed(key));
  }

  #pinIn(reply: Reply): Pin | null {
    const record = readPin(reply[1]);
    if (record === null) this.link.counts.ignored++;
    return record?.pin ?? null;
  }
}

/** Times go as whole milliseconds, at least 1. */
export function whole(ms: number): number {
  return Math.max(1, Math.ceil(ms));
}
