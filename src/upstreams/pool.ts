/** A named set of upstreams with a strategy: an immutable snapshot, indexed when it is built. */
import type { Upstream } from './upstream.js';

/** How a pool chooses among its exits. */
export type StrategyName = 'round_robin' | 'random' | 'weighted_random' | 'least_used';

/** A snapshot of a pool. `slots[i]` is the number under which the ledger knows `upstreams[i]`. */
export interface Pool {
  readonly name: string;
  readonly strategy: StrategyName;
  readonly upstreams: readonly Upstream[];
  readonly slots: Uint32Array;
  /** Index of an upstream by its id. */
  readonly indexById: ReadonlyMap<string, number>;
  /** Most exchanges at once through one exit of this pool; Infinity for none. */
  readonly slotsPerExit: number;
}

/** What choosing may know of the ledger. Slots are the ledger's numbers, see {@link Pool.slots}. */
export interface LedgerView {
  inFlight(slot: number): number;
  /** Whether transport health and bans let this exit be used for this site now. */
  isUsable(slot: number, site: string, nowMs: number): boolean;
  /** Monotonic time at which the exit may be used again for this site; `nowMs` or less when it may now. */
  usableAtMs(slot: number, site: string): number;
}
