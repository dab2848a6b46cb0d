/**
 * Pins of a fleet with a memory of their own: a session that was seen lately costs no call, and while the store is away
 * sessions stay on their exits by what is remembered; those that began meanwhile are told when they are next used.
 *
 * The store is asked to keep a pin half as long again as wanted and is told of a use only when half the time is over:
 * a session lasts its time since its last use, and at most half as long again.
 */
import type { Clock } from '../../core/clock.js';
import type { Answer, HeldPin, Pin, PinQuery, Pins, TellingPins } from '../ports.js';
import { StoreAway } from '../ports.js';
import { MemoryPins } from '../memory/pins.js';

const DEFAULT_MAX_ENTRIES = 200_000;
const KEEP_TIMES = 1.5;
const REFRESH_AFTER = 0.5;
/** So long after a call for a session was in vain none is made for it: a request waits once, not for each of its calls. */
const SHUN_MS = 1000;
const MAX_SHUNNED = 10_000;

/** When what is remembered was read from the store. */
interface Reading {
  readonly ms: number;
  /** Set or moved while the store was away, which is to be told of it. */
  readonly isOwn: boolean;
  /** What the store had said last before that, if anything. */
  readonly from: Pin | null;
}

/** What pins near and far are made of. */
export interface NearPinsParts {
  readonly far: TellingPins;
  readonly clock: Clock;
  /** Whether the store is asked at all now. */
  isUp(): boolean;
  readonly maxEntries?: number;
}

/** Pins near and far. */
export class NearPins implements Pins {
  readonly #parts: NearPinsParts;
  readonly #near: MemoryPins;
  readonly #readings = new Map<string, Reading>();
  /** What was read of an exit before this moment is read again. */
  readonly #doubtedMs = new Map<string, number>();
  #allDoubtedMs = -Infinity;
  /** Sessions whose last call was in vain, and when that was. */
  readonly #shunnedMs = new Map<string, number>();
  readonly #maxEntries: number;

  constructor(parts: NearPinsParts) {
    this.#parts = parts;
    this.#maxEntries = parts.maxEntries ?? DEFAULT_MAX_ENTRIES;
    this.#near = new MemoryPins(parts.clock, this.#maxEntries);
    parts.far.listen((key) => this.#readings.delete(key));
  }

  /** An exit was set aside somewhere: its sessions may have been moved. */
  doubt(exit: string): void {
    if (this.#doubtedMs.size >= this.#maxEntries) this.#doubtedMs.clear();
    this.#doubtedMs.set(exit, this.#parts.clock.nowMs());
  }

  /** Messages may have been missed: everything is read again. */
  doubtAll(): void {
    this.#allDoubtedMs = this.#parts.clock.nowMs();
  }

  find(key: string, ttlMs: number): Answer<Pin | null> {
    if (!this.#parts.isUp()) return this.#near.find(key, ttlMs);
    const reading = this.#readings.get(key);
    if (reading === undefined || reading.isOwn) return this.#fetch(key, ttlMs);
    const pin = this.#near.find(key, ttlMs);
    const ageMs = this.#parts.clock.nowMs() - reading.ms;
    if (pin === null || ageMs >= ttlMs * KEEP_TIMES) return this.#fetch(key, ttlMs);
    const doubtedMs = Math.max(this.#allDoubtedMs, this.#doubtedMs.get(pin.exit) ?? -Infinity);
    if (reading.ms <= doubtedMs) return this.#fetch(key, ttlMs);
    if (ageMs > ttlMs * REFRESH_AFTER) {
      // One refresh is enough, and none waits for it.
      this.#noteReading(key, { ...reading, ms: reading.ms + ttlMs * REFRESH_AFTER });
      void this.#fetch(key, ttlMs);
    }
    return pin;
  }

  async bind(key: string, exit: string, ttlMs: number): Promise<Pin> {
    return this.#asked(key, ttlMs, {
      far: (far, keepMs) => far.bind(key, exit, keepMs),
      near: (near) => near.bind(key, exit, ttlMs),
    });
  }

  async move(key: string, from: Pin, move: { readonly exit: string; readonly ttlMs: number }): Promise<Pin> {
    return this.#asked(key, move.ttlMs, {
      far: (far, keepMs) => far.move(key, from, { exit: move.exit, ttlMs: keepMs }),
      near: (near) => near.move(key, from, move),
    });
  }

  async drop(key: string): Promise<boolean> {
    this.#readings.delete(key);
    const wasNear = await this.#near.drop(key);
    return this.#farOr(
      (far) => far.drop(key),
      () => wasNear,
    );
  }

  list(query: PinQuery): Promise<readonly HeldPin[]> {
    return this.#farOr(
      (far) => far.list(query),
      (near) => near.list(query),
    );
  }

  countOn(exits: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
    return this.#farOr(
      (far) => far.countOn(exits),
      (near) => near.countOn(exits),
    );
  }

  /** Asks the store; a session that began while it was away is told it. */
  async #fetch(key: string, ttlMs: number): Promise<Pin | null> {
    const reading = this.#readings.get(key);
    // What another gateway moved or dropped has no reading, and is not told again.
    const held = reading === undefined ? null : this.#near.find(key, ttlMs);
    const askedMs = this.#parts.clock.nowMs();
    const keepMs = ttlMs * KEEP_TIMES;
    try {
      const { far } = this.#parts;
      const restore = (pin: Pin): Promise<Pin> =>
        far.move(key, reading?.from ?? { ...pin, generation: pin.generation - 1 }, {
          exit: pin.exit,
          ttlMs: keepMs,
        });
      const isOwn = held !== null && reading?.isOwn === true;
      const told = isOwn ? await restore(held) : await far.find(key, keepMs);
      // By our clock it lives: the store has forgotten it.
      const pin = told === null && held !== null ? await restore(held) : told;
      if (pin !== null) this.#keep(key, pin, { ttlMs, askedMs });
      else {
        this.#readings.delete(key);
        await this.#near.drop(key);
      }
      return pin;
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
      if (this.#shunnedMs.size >= MAX_SHUNNED) this.#shunnedMs.clear();
      this.#shunnedMs.set(key, this.#parts.clock.nowMs());
      return this.#near.find(key, ttlMs);
    }
  }

  async #asked(
    key: string,
    ttlMs: number,
    ask: { far: (far: Pins, keepMs: number) => Promise<Pin>; near: (near: Pins) => Promise<Pin> },
  ): Promise<Pin> {
    const askedMs = this.#parts.clock.nowMs();
    try {
      if (this.#parts.isUp() && !this.#isShunned(key, askedMs)) {
        const pin = await ask.far(this.#parts.far, ttlMs * KEEP_TIMES);
        this.#keep(key, pin, { ttlMs, askedMs });
        return pin;
      }
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
    const before = this.#readings.get(key);
    const from = before?.isOwn === false ? this.#near.find(key, ttlMs) : (before?.from ?? null);
    const pin = await ask.near(this.#near);
    this.#noteReading(key, { ms: askedMs, isOwn: true, from });
    return pin;
  }

  #isShunned(key: string, nowMs: number): boolean {
    const shunnedMs = this.#shunnedMs.get(key);
    if (shunnedMs === undefined) return false;
    this.#shunnedMs.delete(key);
    return nowMs - shunnedMs < SHUN_MS;
  }

  async #farOr<T>(far: (far: Pins) => Promise<T>, near: (near: Pins) => T | Promise<T>): Promise<T> {
    try {
      if (this.#parts.isUp()) return await far(this.#parts.far);
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
    return near(this.#near);
  }

  #keep(key: string, pin: Pin, at: { readonly ttlMs: number; readonly askedMs: number }): void {
    this.#near.set(key, pin, at.ttlMs);
    this.#noteReading(key, { ms: at.askedMs, isOwn: false, from: null });
  }

  #noteReading(key: string, reading: Reading): void {
    if (this.#readings.size >= 2 * this.#maxEntries) this.#readings.clear();
    this.#readings.set(key, reading);
  }
}
