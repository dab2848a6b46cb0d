/**
 * The leases that this gateway holds: one is used by many requests, renewed in batches while it is in use, and given back
 * when it was idle for a while. It counts as lost by our own clock before the store could give it to another. Of what it
 * held when the store went away a gateway keeps the exits of its own part; which others it may use then, it is told.
 */
import type { Timer } from '../../core/clock.js';
import { lostAtMs, MAX_CANDIDATES } from '../../facts/lease.js';
import { StoreAway } from '../ports.js';
import type { Answer, Lease } from '../ports.js';
import {
  heldBy,
  isDue,
  isOpen,
  keyOf,
  leaseOf,
  type HeldBy,
  type HeldLeaseAsk,
  type HeldLease,
  type HeldLeasesCounts,
  type HeldLeasesParts,
} from './held-lease.js';

/** How often leases are looked at. */
const TEND_MS = 500;

/** The leases. */
export class HeldLeases {
  readonly counts: HeldLeasesCounts = { taken: 0, reused: 0, released: 0, overlaps: 0, lost: 0 };
  readonly #parts: HeldLeasesParts;
  readonly #held = new Map<string, HeldLease>();
  /** Changes whenever a lease comes or goes. */
  version = 0;
  #timer: Timer | null = null;
  #backing: Promise<void> | null = null;
  #isAway = false;

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
    for (const exit of ask.candidates) {
      const held = this.use(ask.pool, exit);
      if (held !== null) return held;
    }
    return this.#parts.isUp() ? this.#acquire(ask) : null;
  }

  /** A request begins to use an exit. Null where it isn't ours, or not any more. */
  use(pool: string, exit: string): HeldLease | null {
    const held = this.#held.get(keyOf(pool, exit));
    if (held === undefined || !this.isUsable(held, this.#parts.clock.nowMs())) return null;
    held.uses++;
    this.counts.reused++;
    return held;
  }

  /** The same of an exit of the own part, while the store is away and nobody else can have a lease on it. */
  useOwn(ask: Omit<HeldLeaseAsk, 'candidates'>, exit: string): HeldLease {
    const term = { lease: null, isKept: true, askedMs: 0, lostMs: -Infinity, otherUseMs: -Infinity };
    return this.use(ask.pool, exit) ?? this.#hold(ask, exit, term);
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
    return (
      this.#held.get(keyOf(held.pool, held.exit)) === held && this.isUsable(held, this.#parts.clock.nowMs())
    );
  }

  /** The same of one that was not given up: by our clock it is ours, or it was when the store went away. */
  isUsable(held: HeldLease, nowMs: number): boolean {
    return (nowMs < held.lostMs && !held.isUnsure) || (held.isKept && this.#isAway);
  }

  /** The store is away: of what is ours by now, the exits of the own part stay ours. */
  away(isMine: (exit: string) => boolean): void {
    const nowMs = this.#parts.clock.nowMs();
    this.#isAway = true;
    for (const held of this.#held.values()) {
      held.isUnsure = false;
      held.isKept = nowMs < held.lostMs && isMine(held.exit);
    }
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
    const isIdle = (held: HeldLease): boolean => held.uses === 0 && nowMs - held.idleMs >= held.keepIdleMs;
    // What is given back now can't be asked for again.
    if (!this.#isAway) await this.#giveBack(all.filter(isIdle));
    const rest = all.filter((held) => held.lease !== null && nowMs < held.lostMs && this.isHeld(held));
    const times = new Set(rest.filter((held) => isDue(held, nowMs, 1)).map(({ ttlMs }) => ttlMs));
    // Once one is due, those that will be soon go along.
    await this.#renewAll(rest.filter((held) => times.has(held.ttlMs) && isDue(held, nowMs, 0.5)));
    if (this.#parts.isUp()) await this.back();
    this.#dropLost();
  }

  async #renewAll(due: readonly HeldLease[]): Promise<void> {
    const times = [...new Set(due.map(({ ttlMs }) => ttlMs))];
    await Promise.all(
      times.map((ttlMs) =>
        this.#renew(
          due.filter((held) => held.ttlMs === ttlMs),
          ttlMs,
        ),
      ),
    );
  }

  async #renew(due: readonly HeldLease[], ttlMs: number): Promise<void> {
    const askedMs = this.#parts.clock.nowMs();
    try {
      const kept = await this.#parts.leases.renew(due.map(leaseOf), ttlMs);
      due.forEach((held, n) => {
        if (kept[n] === true) this.#granted(held, askedMs);
        // It ran out, or was forgotten, while the store was away, and may be free.
        else if (isOpen(held) && !this.#isAway) Object.assign(held, { lease: null, lostMs: -Infinity });
        else this.#refused(held);
      });
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
  }

  #granted(held: HeldLease, askedMs: number): void {
    held.isKept &&= this.#isAway;
    held.isUnsure = false;
    held.askedMs = askedMs;
    held.lostMs = lostAtMs(askedMs, held.ttlMs);
  }

  /** The store is back: what it confirms, or gives anew, is used again; all else is given up. */
  back(): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    if (this.#isAway) for (const held of this.#held.values()) held.isUnsure = nowMs < held.lostMs;
    this.#isAway = false;
    // Asked for twice at once, our own first lease would refuse the second.
    this.#backing ??= this.#back().finally(() => (this.#backing = null));
    return this.#backing;
  }

  async #back(): Promise<void> {
    const open = [...this.#held.values()].filter(isOpen);
    await this.#renewAll(open.filter(({ lease }) => lease !== null));
    const unleased = open.filter((held) => isOpen(held) && held.lease === null);
    await Promise.all(unleased.map((held) => this.#leaseAgain(held)));
  }

  async #leaseAgain(held: HeldLease): Promise<void> {
    const askedMs = this.#parts.clock.nowMs();
    const { pool, exit, slots, ttlMs, keepMs } = held;
    try {
      const lease = await this.#parts.leases.acquire({ pool, candidates: [exit], slots, ttlMs, keepMs });
      held.lease = lease;
      if (lease === null) {
        this.#refused(held);
        return;
      }
      this.#granted(held, askedMs);
      held.otherUseMs = heldBy(lease, { askedMs, ttlMs, nowMs: this.#parts.clock.nowMs() }).otherUseMs;
    } catch (error) {
      if (!(error instanceof StoreAway)) throw error;
    }
  }

  /** What is still used without a lease is given up: the store is there, and others go by it. */
  dropUnleased(): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const held of this.#held.values()) {
      held.isKept = false;
      if (held.isUnsure || nowMs >= held.lostMs) this.#drop(held);
    }
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
      return null;
    }
  }

  #hold(ask: Omit<HeldLeaseAsk, 'candidates'>, exit: string, by: HeldBy): HeldLease {
    const key = keyOf(ask.pool, exit);
    const before = this.#held.get(key);
    // Two requests asked at once and both got a slot of the same exit: one lease is enough.
    if (before !== undefined && before.lease !== null && by.lease !== null && this.isHeld(before)) {
      before.uses++;
      void this.#release([by.lease], [Infinity]);
      return before;
    }
    const idleMs = this.#parts.clock.nowMs();
    const { pool, slots, keepMs = 0, ttlMs = this.#parts.ttlMs } = ask;
    const keepIdleMs = ask.idleMs ?? this.#parts.idleMs;
    const fresh = { uses: 1, isWanted: false, isUnsure: false, idleMs };
    const held = { pool, exit, slots, ttlMs, keepIdleMs, keepMs, ...fresh, ...by };
    this.#held.set(key, held);
    this.version++;
    this.counts.taken++;
    return held;
  }

  #refused(held: HeldLease): void {
    if (isOpen(held) || this.#parts.clock.nowMs() < held.lostMs) this.counts.overlaps++;
    this.#drop(held);
    this.counts.lost++;
  }

  #dropLost(): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const held of this.#held.values()) {
      if (nowMs < held.lostMs || isOpen(held)) continue;
      this.#drop(held);
      this.counts.lost++;
    }
  }

  #drop(held: HeldLease): void {
    const key = keyOf(held.pool, held.exit);
    if (this.#held.get(key) === held) this.#held.delete(key);
    held.lostMs = -Infinity;
    held.isKept = false;
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
