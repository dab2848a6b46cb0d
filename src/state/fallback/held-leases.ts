/**
 * The leases that this gateway holds: one is used by many requests, renewed in batches while it is in use, and given back
 * when it was idle for a while. It counts as lost by our own clock before the store could give it to another. While the
 * store is away a gateway uses the exits of its own shard, and nothing else.
 */
import type { Clock, Timer } from '../../core/clock.js';
import { lostAtMs, MAX_CANDIDATES, renewEveryMs } from '../../facts/lease.js';
import { StoreAway } from '../ports.js';
import type { Answer, Lease, LeaseAsk, Leases } from '../ports.js';

/** A lease in use. */
export interface HeldLease {
  /** Null for an exit of the own shard, used while the store is away. */
  lease: Lease | null;
  readonly pool: string;
  readonly exit: string;
  readonly slots: number;
  uses: number;
  lostMs: number;
  idleMs: number;
}

/** What held leases are made of. */
export interface HeldLeasesParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Given back after so long without use. */
  readonly idleMs: number;
  isUp(): boolean;
  /** Whether an exit is of this gateway's shard while the store is away. */
  isMine(pool: string, exit: string): boolean;
}

/** Counts, for metrics. */
export interface HeldLeasesCounts {
  taken: number;
  reused: number;
  released: number;
  /** Refused by the store though by our clock they were ours: another may have used the exit at the same time. */
  overlaps: number;
  /** Given up, by our clock or by the store's word. */
  lost: number;
}

type Ask = Omit<LeaseAsk, 'ttlMs'>;

/** The leases. */
export class HeldLeases {
  readonly counts: HeldLeasesCounts = { taken: 0, reused: 0, released: 0, overlaps: 0, lost: 0 };
  readonly #parts: HeldLeasesParts;
  readonly #held = new Map<string, HeldLease>();
  #timer: Timer | null = null;

  constructor(parts: HeldLeasesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#held.size;
  }

  /** An exit of the candidates to use now: one that is held without a call, or else a new lease. Null: none is free. */
  take(ask: Ask): Answer<HeldLease | null> {
    const nowMs = this.#parts.clock.nowMs();
    for (const exit of ask.candidates) {
      const held = this.#held.get(keyOf(ask.pool, exit));
      if (held === undefined || nowMs >= held.lostMs) continue;
      held.uses++;
      this.counts.reused++;
      return held;
    }
    return this.#parts.isUp() ? this.#acquire(ask) : this.#ofShard(ask);
  }

  /** One use is over. */
  done(held: HeldLease): void {
    held.uses--;
    held.idleMs = this.#parts.clock.nowMs();
  }

  /** Whether the exit may still be used under this lease. */
  isHeld(held: HeldLease): boolean {
    return this.#held.get(keyOf(held.pool, held.exit)) === held && this.#parts.clock.nowMs() < held.lostMs;
  }

  /** Begins to renew. */
  start(): void {
    this.#timer = this.#parts.clock.after(renewEveryMs(this.#parts.ttlMs), () => {
      this.start();
      void this.tend();
    });
  }

  /** Gives everything back. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#giveBack([...this.#held.values()]);
  }

  /** Renews what is in use and gives back what is idle. */
  async tend(): Promise<void> {
    const { clock, ttlMs, idleMs, leases } = this.#parts;
    const nowMs = clock.nowMs();
    const all = [...this.#held.values()];
    const idle = all.filter((held) => held.uses === 0 && nowMs - held.idleMs >= idleMs);
    await this.#giveBack(idle);
    const inUse = all.filter((held) => !idle.includes(held) && held.lease !== null);
    const askedMs = clock.nowMs();
    try {
      const kept = await leases.renew(inUse.map(leaseOf), ttlMs);
      inUse.forEach((held, n) => {
        if (kept[n] === true) held.lostMs = lostAtMs(askedMs, ttlMs);
        else this.#refused(held);
      });
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
    this.#dropLost();
  }

  /** The store is back: exits of the shard need a lease like all others, or are given up. */
  async back(): Promise<void> {
    const ours = [...this.#held.values()].filter(({ lease }) => lease === null);
    await Promise.all(
      ours.map(async (held) => {
        const askedMs = this.#parts.clock.nowMs();
        const { pool, exit, slots } = held;
        const { ttlMs } = this.#parts;
        try {
          held.lease = await this.#parts.leases.acquire({ pool, candidates: [exit], slots, ttlMs });
          if (held.lease === null) this.#refused(held);
          else held.lostMs = lostAtMs(askedMs, ttlMs);
        } catch (error) {
          if (!(error instanceof StoreAway)) throw error;
        }
      }),
    );
  }

  async #acquire(ask: Ask): Promise<HeldLease | null> {
    const { leases, clock, ttlMs } = this.#parts;
    const askedMs = clock.nowMs();
    try {
      const candidates = ask.candidates.slice(0, MAX_CANDIDATES);
      const lease = await leases.acquire({ ...ask, candidates, ttlMs });
      if (lease === null) return null;
      return this.#hold(ask, lease.exit, { lease, lostMs: lostAtMs(askedMs, ttlMs) });
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
      return this.#ofShard(ask);
    }
  }

  #ofShard(ask: Ask): HeldLease | null {
    const exit = ask.candidates.find((each) => this.#parts.isMine(ask.pool, each));
    return exit === undefined ? null : this.#hold(ask, exit, { lease: null, lostMs: Infinity });
  }

  #hold(ask: Ask, exit: string, by: Pick<HeldLease, 'lease' | 'lostMs'>): HeldLease {
    const key = keyOf(ask.pool, exit);
    const before = this.#held.get(key);
    // Two requests asked at once and both got a slot of the same exit: one lease is enough.
    if (before !== undefined && before.lease !== null && by.lease !== null && this.isHeld(before)) {
      before.uses++;
      void this.#release([by.lease]);
      return before;
    }
    const idleMs = this.#parts.clock.nowMs();
    const held = { pool: ask.pool, exit, slots: ask.slots, uses: 1, idleMs, ...by };
    this.#held.set(key, held);
    this.counts.taken++;
    return held;
  }

  #refused(held: HeldLease): void {
    if (this.#parts.clock.nowMs() < held.lostMs) this.counts.overlaps++;
    this.#drop(held);
    this.counts.lost++;
  }

  #dropLost(): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const held of this.#held.values()) {
      if (nowMs < held.lostMs) continue;
      this.#drop(held);
      this.counts.lost++;
    }
  }

  #drop(held: HeldLease): void {
    const key = keyOf(held.pool, held.exit);
    if (this.#held.get(key) === held) this.#held.delete(key);
    held.lostMs = -Infinity;
  }

  async #giveBack(some: readonly HeldLease[]): Promise<void> {
    for (const held of some) this.#drop(held);
    this.counts.released += some.length;
    await this.#release(some.filter(({ lease }) => lease !== null).map(leaseOf));
  }

  /** What can't be given back now runs out by itself. */
  async #release(leases: readonly Lease[]): Promise<void> {
    try {
      if (leases.length > 0) await this.#parts.leases.release(leases);
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
  }
}

function keyOf(pool: string, exit: string): string {
  return `${exit} ${pool}`;
}

function leaseOf(held: HeldLease): Lease {
  if (held.lease === null) throw new Error('an exit of the shard has no lease');
  return held.lease;
}
