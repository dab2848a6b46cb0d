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
  readonly #epoch: string;
  #fence = 0;

  constructor(
    private readonly clock: Clock,
    private readonly random: Random,
  ) {
    this.#epoch = random.hex(8);
  }

  async acquire(ask: LeaseAsk): Promise<Lease | null> {
    for (const exit of ask.candidates.slice(0, MAX_CANDIDATES)) {
      const held = this.#heldOf(ask.pool, exit);
      if (held.length >= ask.slots) continue;
      const id = this.random.hex(16);
      const lease = { pool: ask.pool, exit, id, epoch: this.#epoch, fence: ++this.#fence };
      held.push({ lease, dueMs: this.clock.nowMs() + ask.ttlMs });
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

  async release(leases: readonly Lease[]): Promise<readonly boolean[]> {
    return leases.map((lease) => {
      const held = this.#find(lease);
      if (held === undefined) return false;
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
    return (this.#byExit.get(keyOf({ pool, exit })) ?? []).filter(({ dueMs }) => nowMs < dueMs);
  }
}

function keyOf({ pool, exit }: { readonly pool: string; readonly exit: string }): string {
  return `${exit} ${pool}`;
}
