/** What is known of every exit, sound or not, as arrays by slot: numbers only, grown by doubling. */
import { smoothed } from '../core/smoothed.js';
import { IdMap } from '../upstreams/id-map.js';
import type { Upstream } from '../upstreams/upstream.js';
import { RecentUses } from './recent-uses.js';

const FIRST_CAPACITY = 64;
/** Weight of the newest first-byte time. */
const SMOOTHING = 0.2;
/** Slots that one change of pools frees at once: a few milliseconds. */
const FORGET_AT_ONCE = 10_000;

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
  #holds = 0;
  /** Slots that seemed unused at the last change of pools. */
  #unused: number[] = [];
  readonly #slotById = new IdMap();
  readonly #free: number[] = [];

  /** @param isRemembered whether something is held about a slot that outlives its use */
  constructor(private readonly isRemembered: (slot: number) => boolean) {}

  /** The slot of this exit, a new one the first time. A new exit pays for the forgetting of two. */
  intern(upstream: Upstream): number {
    const known = this.#slotById.get(upstream.id);
    if (known === undefined) this.#forgetSome(2);
    const slot = known ?? this.#free.pop() ?? this.upstreams.length;
    if (slot >= this.inFlight.length) this.#grow();
    if (known === undefined) this.#slotById.set(upstream.id, slot);
    this.upstreams[slot] = upstream;
    this.#seen[slot] = this.#generation + 1;
    return slot;
  }

  /** What is interned from now on is kept, pool or not, until the function that it returns is called. */
  hold(): () => void {
    this.#holds++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#holds--;
      isHeld = false;
    };
  }

  /** Ids of the exits that have something in flight. */
  busy(): string[] {
    const ids: string[] = [];
    this.upstreams.forEach((upstream, slot) => {
      if (upstream !== null && this.inFlight[slot] !== 0) ids.push(upstream.id);
    });
    return ids;
  }

  /**
   * Frees slots that were in no pool at the last two calls, are idle, and of which nothing has to be remembered: some
   * now and the others as new exits come, so that a list of a million that is replaced stops nobody.
   */
  forgetUnused(isMember: (slot: number) => boolean): void {
    if (this.#holds > 0) return;
    this.#generation++;
    this.#unused = [];
    for (let slot = 0; slot < this.upstreams.length; slot++) {
      if (isMember(slot)) this.#seen[slot] = this.#generation;
      else if (this.#isForgettable(slot)) this.#unused.push(slot);
    }
    this.#forgetSome(FORGET_AT_ONCE);
  }

  #forgetSome(count: number): void {
    for (let left = count; left > 0; left--) {
      const slot = this.#unused.pop();
      if (slot === undefined) return;
      const upstream = this.upstreams[slot];
      if (upstream === undefined || upstream === null || !this.#isForgettable(slot)) continue;
      this.#slotById.delete(upstream.id);
      this.upstreams[slot] = null;
      for (const counts of [this.firstByteMs, this.successes, this.failures]) counts[slot] = 0;
      this.#free.push(slot);
    }
  }

  #isForgettable(slot: number): boolean {
    const isRecent = (this.#seen[slot] ?? 0) + 1 >= this.#generation;
    return (
      !isRecent && this.upstreams[slot] !== null && this.inFlight[slot] === 0 && !this.isRemembered(slot)
    );
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
    this.firstByteMs[slot] = smoothed(before, ms, SMOOTHING);
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
