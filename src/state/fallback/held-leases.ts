/**
 * The leases that this gateway holds: one is used by many requests, renewed in batches while it is in use, and given back
 * when it was idle for a while. It counts as lost by our own clock before the store could give it to another. While the
 * store is away a gateway uses the exits of its own shard, and nothing else.
 */
import type { Clock, Timer } from '../../core/clock.js';
import { lostAtMs, MAX_CANDIDATES } from '../../facts/lease.js';
import { StoreAway } from '../ports.js';
import type { Answer, Lease, LeaseAsk, Leases } from '../ports.js';
import { heldBy, isDue, leaseOf, type HeldBy, type HeldLease } from './held-lease.js';

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

/** How often leases are looked at. */
const TEND_MS = 500;

/** What is asked for; times are those of the parts where they are left out. */
export type HeldLeaseAsk = Omit<LeaseAsk, 'ttlMs'> & { readonly ttlMs?: number; readonly idleMs?: number };

/** The leases. */
export class HeldLeases {
  readonly counts: HeldLeasesCounts = { taken: 0, reused: 0, released: 0, overlaps: 0, lost: 0 };
  readonly #parts: HeldLeasesParts;
  readonly #held = new Map<string, HeldLease>();
  /** Changes whenever a lease comes or goes. */
  version = 0;
  #timer: Timer | null = null;
  #backing: Promise<void> | null = null;

  constructor(parts: HeldLeasesParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#held.size;
  }

  /** Those of a pool. */
  in(pool: string): HeldLease[] {
    return [...this.#held.values()].filter((held) => held.pool === pool);
  }

  /** An exit of the candidates to use now: one that is held without a call, or else a new lease. Null: none is free. */
  take(ask: HeldLeaseAsk): Answer<HeldLease | null> {
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
    if (held.uses === 0 && held.isWanted && this.isHeld(held)) void this.#giveBack([held]);
  }

  /** Another gateway wants this exit. */
  want(pool: string, exit: string): void {
    const held = this.#held.get(keyOf(pool, exit));
    if (held === undefined || held.lease === null) return;
    held.isWanted = true;
    if (held.uses === 0) void this.#giveBack([held]);
  }

  /** Gives up to so many leases of a pool back that nobody uses, those first that were idle longest. */
  async giveBackIdle(pool: string, most: number): Promise<void> {
    const idle = this.in(pool).filter(({ uses }) => uses === 0);
    await this.#giveBack(idle.sort((a, b) => a.idleMs - b.idleMs).slice(0, most));
  }

  /** Whether the exit may still be used under this lease. */
  isHeld(held: HeldLease): boolean {
    return this.#held.get(keyOf(held.pool, held.exit)) === held && this.#parts.clock.nowMs() < held.lostMs;
  }

  /** Begins to renew. */
  start(): void {
    this.#timer = this.#parts.clock.after(TEND_MS, () => {
      this.start();
      void this.tend();
    });
  }

  /** Gives everything back. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#giveBack([...this.#held.values()]);
  }

  /** Renews what is due, gives back what is idle, and asks for what is used without a lease. */
  async tend(): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    const all = [...this.#held.values()];
    await this.#giveBack(all.filter((held) => held.uses === 0 && nowMs - held.idleMs >= held.keepIdleMs));
    const rest = all.filter((held) => this.isHeld(held) && held.lease !== null);
    const times = new Set(rest.filter((held) => isDue(held, nowMs, 1)).map(({ ttlMs }) => ttlMs));
    // Once one is due, those that will be soon go along.
    const renewed = [...times].map((ttlMs) =>
      this.#renew(
        rest.filter((held) => held.ttlMs === ttlMs && isDue(held, nowMs, 0.5)),
        ttlMs,
      ),
    );
    await Promise.all(renewed);
    if (this.#parts.isUp()) await this.back();
    this.#dropLost();
  }

  async #renew(due: readonly HeldLease[], ttlMs: number): Promise<void> {
    const askedMs = this.#parts.clock.nowMs();
    try {
      const kept = await this.#parts.leases.renew(due.map(leaseOf), ttlMs);
      due.forEach((held, n) => {
        if (kept[n] === true) Object.assign(held, { askedMs, lostMs: lostAtMs(askedMs, ttlMs) });
        else this.#refused(held);
      });
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
  }

  /** The store is back: exits of the shard need a lease like all others, or are given up. */
  back(): Promise<void> {
    // Asked for twice at once, our own first lease would refuse the second.
    this.#backing ??= this.#back().finally(() => (this.#backing = null));
    return this.#backing;
  }

  async #back(): Promise<void> {
    const ours = [...this.#held.values()].filter(({ lease }) => lease === null);
    await Promise.all(
      ours.map(async (held) => {
        const askedMs = this.#parts.clock.nowMs();
        const { pool, exit, slots, ttlMs, keepMs } = held;
        try {
          const lease = await this.#parts.leases.acquire({ pool, candidates: [exit], slots, ttlMs, keepMs });
          held.lease = lease;
          if (lease === null) this.#refused(held);
          else Object.assign(held, heldBy(lease, { askedMs, ttlMs, nowMs: this.#parts.clock.nowMs() }));
        } catch (error) {
          if (!(error instanceof StoreAway)) throw error;
        }
      }),
    );
  }

  /** What is used without a lease is given up: the store is there, and others go by it. */
  dropUnleased(): void {
    for (const held of this.#held.values()) if (held.lease === null) this.#drop(held);
  }

  async #acquire(ask: HeldLeaseAsk): Promise<HeldLease | null> {
    const { leases, clock } = this.#parts;
    const { ttlMs = this.#parts.ttlMs } = ask;
    const askedMs = clock.nowMs();
    try {
      const candidates = ask.candidates.slice(0, MAX_CANDIDATES);
      const { pool, slots, keepMs = 0, isWanted = false } = ask;
      const lease = await leases.acquire({ pool, slots, candidates, ttlMs, keepMs, isWanted });
      if (lease === null) return null;
      return this.#hold(ask, lease.exit, heldBy(lease, { askedMs, ttlMs, nowMs: clock.nowMs() }));
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
      return this.#ofShard(ask);
    }
  }

  #ofShard(ask: HeldLeaseAsk): HeldLease | null {
    const exit = ask.candidates.find((each) => this.#parts.isMine(ask.pool, each));
    const by = { lease: null, askedMs: 0, lostMs: Infinity, otherUseMs: -Infinity };
    return exit === undefined ? null : this.#hold(ask, exit, by);
  }

  #hold(ask: HeldLeaseAsk, exit: string, by: HeldBy): HeldLease {
    const key = keyOf(ask.pool, exit);
    const before = this.#held.get(key);
    // Two requests asked at once and both got a slot of the same exit: one lease is enough.
    if (before !== undefined && before.lease !== null && by.lease !== null && this.isHeld(before)) {
      before.uses++;
      void this.#release([by.lease], [Infinity]);
      return before;
    }
    const idleMs = this.#parts.clock.nowMs();
    const {
      pool,
      slots,
      keepMs = 0,
      ttlMs = this.#parts.ttlMs,
      idleMs: keepIdleMs = this.#parts.idleMs,
    } = ask;
    const times = { ttlMs, keepIdleMs, keepMs, idleMs };
    const held = { pool, exit, slots, ...times, uses: 1, isWanted: false, ...by };
    this.#held.set(key, held);
    this.version++;
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
    this.version++;
  }

  async #giveBack(some: readonly HeldLease[]): Promise<void> {
    for (const held of some) this.#drop(held);
    this.counts.released += some.length;
    const leased = some.filter(({ lease }) => lease !== null);
    const nowMs = this.#parts.clock.nowMs();
    const usedAgoMs = leased.map(({ uses, idleMs }) => (uses > 0 ? 0 : nowMs - idleMs));
    await this.#release(leased.map(leaseOf), usedAgoMs);
  }

  /** What can't be given back now runs out by itself. */
  async #release(leases: readonly Lease[], usedAgoMs: readonly number[]): Promise<void> {
    try {
      if (leases.length > 0) await this.#parts.leases.release(leases, usedAgoMs);
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
  }
}

function keyOf(pool: string, exit: string): string {
  return `${exit} ${pool}`;
}
