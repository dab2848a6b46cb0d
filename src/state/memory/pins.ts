/** The shared facts of a gateway that shares with nobody: pins in a map of this process. */
import type { Clock } from '../../core/clock.js';
import { parsePinKey } from '../../facts/pin.js';
import type { HeldPin, Pin, PinQuery, Pins } from '../ports.js';
import { Smallest } from '../smallest.js';

interface Entry {
  pin: Pin;
  dueMs: number;
  /** When the entry last went to the young end of the map. */
  movedMs: number;
}

const DEFAULT_MAX_ENTRIES = 1_000_000;
/** Entries looked at for each write, so that those that ran out go even if nobody asks for them. */
const SWEEP_STEPS = 2;
/** Entries looked at in one go when all are asked for; then others get their turn. */
const LOOK_AT = 20_000;

/** Pins in memory: bounded, the longest unused dropped first, times sliding. */
export class MemoryPins implements Pins {
  readonly #clock: Clock;
  readonly #maxEntries: number;
  readonly #entries = new Map<string, Entry>();
  /** Both iterators live on: a new one would step over the holes of all that was dropped before. */
  #sweep: MapIterator<[string, Entry]>;
  readonly #oldest: MapIterator<string>;

  /** @param maxEntries most sessions that are remembered at once */
  constructor(clock: Clock, maxEntries: number = DEFAULT_MAX_ENTRIES) {
    this.#clock = clock;
    this.#maxEntries = Math.max(1, maxEntries);
    this.#sweep = this.#entries.entries();
    this.#oldest = this.#entries.keys();
  }

  /** How many pins are held, those that ran out and were not yet swept among them. */
  get size(): number {
    return this.#entries.size;
  }

  find(key: string, ttlMs: number): Pin | null {
    const entry = this.#live(key);
    if (entry === null) return null;
    this.#refresh(key, entry, ttlMs);
    return entry.pin;
  }

  async bind(key: string, exit: string, ttlMs: number): Promise<Pin> {
    const entry = this.#live(key);
    if (entry === null) return this.#insert(key, { exit, generation: 1 }, ttlMs);
    this.#refresh(key, entry, ttlMs);
    return entry.pin;
  }

  async move(key: string, from: Pin, move: { readonly exit: string; readonly ttlMs: number }): Promise<Pin> {
    const entry = this.#live(key);
    const next = { exit: move.exit, generation: from.generation + 1 };
    if (entry === null) return this.#insert(key, next, move.ttlMs);
    if (entry.pin.exit === from.exit && entry.pin.generation === from.generation) entry.pin = next;
    this.#refresh(key, entry, move.ttlMs);
    return entry.pin;
  }

  /** Sets a pin whatever was there, as another store tells it. */
  set(key: string, pin: Pin, ttlMs: number): void {
    const entry = this.#live(key);
    if (entry === null) this.#insert(key, pin, ttlMs);
    else {
      entry.pin = pin;
      this.#refresh(key, entry, ttlMs);
    }
  }

  async drop(key: string): Promise<boolean> {
    const isThere = this.#live(key) !== null;
    this.#entries.delete(key);
    return isThere;
  }

  async list(query: PinQuery): Promise<readonly HeldPin[]> {
    const page = new Smallest<HeldPin>(query.limit, ({ key }) => key);
    await this.#each((key, entry, nowMs) => {
      if (query.after !== null && key <= query.after) return;
      if (query.exit !== null && entry.pin.exit !== query.exit) return;
      if (query.client !== null && parsePinKey(key)?.client !== query.client) return;
      page.offer({ key, pin: entry.pin, leftMs: entry.dueMs - nowMs });
    });
    return page.sorted();
  }

  async countOn(exits: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
    const seen = new Set<string>();
    const counts = new Map<string, number>();
    await this.#each((key, { pin }) => {
      // An entry that moves to the young end meanwhile comes by twice.
      if (!exits.has(pin.exit) || seen.has(key)) return;
      seen.add(key);
      counts.set(pin.exit, (counts.get(pin.exit) ?? 0) + 1);
    });
    return counts;
  }

  /** Every live entry, a bounded number at a time. */
  async #each(look: (key: string, entry: Entry, nowMs: number) => void): Promise<void> {
    let left = LOOK_AT;
    for (const [key, entry] of this.#entries) {
      const nowMs = this.#clock.nowMs();
      if (nowMs < entry.dueMs) look(key, entry, nowMs);
      if (--left > 0) continue;
      await new Promise<void>((resolve) => void this.#clock.after(0, resolve));
      left = LOOK_AT;
    }
  }

  #live(key: string): Entry | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    if (this.#clock.nowMs() < entry.dueMs) return entry;
    this.#entries.delete(key);
    return null;
  }

  #insert(key: string, pin: Pin, ttlMs: number): Pin {
    const nowMs = this.#clock.nowMs();
    this.#sweepSome(nowMs);
    if (this.#entries.size >= this.#maxEntries) this.#dropOldest();
    this.#entries.set(key, { pin, dueMs: nowMs + ttlMs, movedMs: nowMs });
    return pin;
  }

  /** All that stood before the iterator was dropped or moved to the young end, so what comes next is the oldest. */
  #dropOldest(): void {
    const oldest = this.#oldest.next();
    if (oldest.done !== true) this.#entries.delete(oldest.value);
  }

  /** Extends the time; moves the entry to the young end only now and then, since each move costs the map a hole. */
  #refresh(key: string, entry: Entry, ttlMs: number): void {
    const nowMs = this.#clock.nowMs();
    entry.dueMs = nowMs + ttlMs;
    if (nowMs - entry.movedMs < ttlMs / 4) return;
    entry.movedMs = nowMs;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  #sweepSome(nowMs: number): void {
    for (let step = 0; step < SWEEP_STEPS; step++) {
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = this.#entries.entries();
        return;
      }
      if (next.value[1].dueMs <= nowMs) this.#entries.delete(next.value[0]);
    }
  }
}
