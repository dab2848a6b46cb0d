/** Leases in this process: the meaning of the port in the plainest words. */
import type { Clock } from '../../core/clock.js';
import type { Random } from '../../core/random.js';
import { MAX_CANDIDATES } from '../../facts/lease.js';
import type { Lease, LeaseAsk, Leases } from '../ports.js';

interface Held {
  readonly lease: Lease;
  dueMs: number;
}

/** Leases in a map of exits. */
export class MemoryLeases implements Leases {
  readonly #byExit = new Map<string, Held[]>();
  /** When exits without a lease were last used, at the latest. */
  readonly #usedMs = new Map<string, number>();
  readonly #epoch: string;
  #fence = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    this.#epoch = random.hex(8);
  }

  async acquire(ask: LeaseAsk): Promise<Lease | null> {
    const { pool, keepMs = 0 } = ask;
    const nowMs = this.clock.nowMs();
    for (const exit of ask.candidates.slice(0, MAX_CANDIDATES)) {
      const held = this.#heldOf(pool, exit);
      if (held.length >= ask.slots) continue;
      const id = this.random.hex(16);
      const agoMs = nowMs - (this.#usedMs.get(keyOf({ pool, exit })) ?? -Infinity);
      const usedAgoMs = agoMs < keepMs ? Math.max(0, agoMs) : null;
      const lease = { pool, exit, id, epoch: this.#epoch, fence: ++this.#fence, keepMs, usedAgoMs };
      held.push({ lease, dueMs: nowMs + ask.ttlMs });
      this.#byExit.set(keyOf(lease), held);
      return lease;
    }
    return null;
  }

  async renew(leases: readonly Lease[], ttlMs: number): Promise<readonly boolean[]> {
    return leases.map((lease) => {
      const held = this.#find(lease);
      if (held !== undefined) held.dueMs = this.clock.nowMs() + ttlMs;
      return held !== undefined;
    });
  }

  async release(leases: readonly Lease[], usedAgoMs: readonly number[] = []): Promise<readonly boolean[]> {
    return leases.map((lease, n) => {
      const held = this.#find(lease);
      if (held === undefined) return false;
      this.#usedMs.set(keyOf(lease), this.clock.nowMs() - (usedAgoMs[n] ?? Infinity));
      const rest = this.#heldOf(lease.pool, lease.exit).filter((each) => each !== held);
      if (rest.length === 0) this.#byExit.delete(keyOf(lease));
      else this.#byExit.set(keyOf(lease), rest);
      return true;
    });
  }

  #find(lease: Lease): Held | undefined {
    return this.#heldOf(lease.pool, lease.exit).find(
      (held) =>
        held.lease.id === lease.id && held.lease.fence === lease.fence && held.lease.epoch === lease.epoch,
    );
  }

  #heldOf(pool: string, exit: string): Held[] {
    const nowMs = this.clock.nowMs();
    const key = keyOf({ pool, exit });
    const all = this.#byExit.get(key) ?? [];
    // Whoever crashed may have used it until its lease ran out.
    for (const { dueMs } of all)
      if (dueMs <= nowMs) this.#usedMs.set(key, Math.max(dueMs, this.#usedMs.get(key) ?? -Infinity));
    return all.filter(({ dueMs }) => nowMs < dueMs);
  }
}

function keyOf({ pool, exit }: { readonly pool: string; readonly exit: string }): string {
  return `${exit} ${pool}`;
}
