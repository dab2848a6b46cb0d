/** What is known of every exit, sound or not, as arrays by slot: numbers only, grown by doubling. */
import { IdMap } from '../upstreams/id-map.js';
import type { Upstream } from '../upstreams/upstream.js';
import { RecentUses } from './recent-uses.js';

const FIRST_CAPACITY = 64;
/** Weight of the newest first-byte time. */
const SMOOTHING = 0.2;

/** Slots and their counters. The arrays are replaced when they grow: never keep one. */
export class Slots {
  inFlight = new Uint32Array(FIRST_CAPACITY);
  /** 1 where transport health or site bans hold an entry: the first thing that choosing asks. */
  marks = new Uint8Array(FIRST_CAPACITY);
  /** Smoothed time to the first byte; 0 before the first answer. */
  firstByteMs = new Float64Array(FIRST_CAPACITY);
  successes = new Float64Array(FIRST_CAPACITY);
  failures = new Float64Array(FIRST_CAPACITY);
  /** By slot; null where the slot is free. */
  readonly upstreams: (Upstream | null)[] = [];
  /** Last uses per site; null while no pool goes by them. */
  uses: RecentUses | null = null;
  #seen = new Uint32Array(FIRST_CAPACITY);
  #generation = 0;
  readonly #slotById = new IdMap();
  readonly #free: number[] = [];

  /** The slot of this exit, a new one the first time. */
  intern(upstream: Upstream): number {
    const known = this.#slotById.get(upstream.id);
    const slot = known ?? this.#free.pop() ?? this.upstreams.length;
    if (slot >= this.inFlight.length) this.#grow();
    this.#slotById.set(upstream.id, slot);
    this.upstreams[slot] = upstream;
    this.#seen[slot] = this.#generation + 1;
    return slot;
  }

  /** Frees slots that were in no pool at the last two calls, are idle, and of which nothing has to be remembered. */
  forgetUnused(isMember: (slot: number) => boolean, isRemembered: (slot: number) => boolean): void {
    this.#generation++;
    for (const [id, slot] of this.#slotById) {
      if (isMember(slot)) this.#seen[slot] = this.#generation;
      const isRecent = (this.#seen[slot] ?? 0) + 1 >= this.#generation;
      if (isRecent || this.inFlight[slot] !== 0 || isRemembered(slot)) continue;
      this.#slotById.delete(id);
      this.upstreams[slot] = null;
      for (const counts of [this.firstByteMs, this.successes, this.failures]) counts[slot] = 0;
      this.#free.push(slot);
    }
  }

  began(slot: number): void {
    this.inFlight[slot] = (this.inFlight[slot] ?? 0) + 1;
  }

  /** @returns how many are still in flight */
  ended(slot: number): number {
    const left = Math.max(0, (this.inFlight[slot] ?? 0) - 1);
    this.inFlight[slot] = left;
    return left;
  }

  smooth(slot: number, ms: number): void {
    const before = this.firstByteMs[slot] ?? 0;
    this.firstByteMs[slot] = before === 0 ? ms : before + SMOOTHING * (ms - before);
  }

  succeeded(slot: number): void {
    this.successes[slot] = (this.successes[slot] ?? 0) + 1;
  }

  failed(slot: number): void {
    this.failures[slot] = (this.failures[slot] ?? 0) + 1;
  }

  /** Begins or ends to remember which exit was used when for which site. */
  rememberUses(isAsked: boolean): void {
    this.uses = isAsked ? (this.uses ?? new RecentUses()) : null;
  }

  /** Counters of one exit, for people. */
  countsOf(slot: number): {
    inFlight: number;
    firstByteMs: number | null;
    successes: number;
    failures: number;
  } {
    const firstByteMs = this.firstByteMs[slot] ?? 0;
    return {
      inFlight: this.inFlight[slot] ?? 0,
      firstByteMs: firstByteMs === 0 ? null : firstByteMs,
      successes: this.successes[slot] ?? 0,
      failures: this.failures[slot] ?? 0,
    };
  }

  /** Smoothed time to the first byte; 0 before the first try, Infinity after tries without an answer. */
  speedOf(slot: number): number {
    const ms = this.firstByteMs[slot] ?? 0;
    if (ms > 0) return ms;
    return this.successes[slot] === 0 && this.failures[slot] === 0 ? 0 : Infinity;
  }

  hasWorked(slot: number): boolean {
    return (this.successes[slot] ?? 0) > 0;
  }

  #grow(): void {
    this.inFlight = doubled(this.inFlight, Uint32Array);
    this.marks = doubled(this.marks, Uint8Array);
    this.firstByteMs = doubled(this.firstByteMs, Float64Array);
    this.successes = doubled(this.successes, Float64Array);
    this.failures = doubled(this.failures, Float64Array);
    this.#seen = doubled(this.#seen, Uint32Array);
  }
}

function doubled<T extends { set(from: T): void; readonly length: number }>(
  from: T,
  make: new (length: number) => T,
): T {
  const to = new make(from.length * 2);
  to.set(from);
  return to;
}
