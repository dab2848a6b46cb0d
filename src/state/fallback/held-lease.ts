/** One lease that this gateway holds, and what its times are by our own clock. */
import { lostAtMs, renewEveryMs } from '../../facts/lease.js';
import type { Lease } from '../ports.js';

/** A lease in use. */
export interface HeldLease {
  /** Null for an exit of the own shard, used while the store is away. */
  lease: Lease | null;
  readonly pool: string;
  readonly exit: string;
  readonly slots: number;
  readonly ttlMs: number;
  /** Given back after so long without use. */
  readonly keepIdleMs: number;
  /** How long the next holder is told of its last use. */
  readonly keepMs: number;
  /** When another gateway may have used the exit last, by our clock; −Infinity: long ago. */
  otherUseMs: number;
  uses: number;
  /** Another gateway wants it: given back as soon as nobody uses it. */
  isWanted: boolean;
  /** When it was got or renewed, by our clock read before. */
  askedMs: number;
  lostMs: number;
  idleMs: number;
}

/** The lease behind it and its times. */
export type HeldBy = Pick<HeldLease, 'lease' | 'askedMs' | 'lostMs' | 'otherUseMs'>;

/** By a lease that was given just now. @param at.askedMs our clock before it was asked for */
export function heldBy(
  lease: Lease,
  at: { readonly askedMs: number; readonly ttlMs: number; readonly nowMs: number },
): HeldBy {
  const { askedMs, ttlMs, nowMs } = at;
  const otherUseMs = lease.usedAgoMs === null ? -Infinity : nowMs - lease.usedAgoMs;
  return { lease, askedMs, lostMs: lostAtMs(askedMs, ttlMs), otherUseMs };
}

/** Whether so much of the time between two renewals is over. */
export function isDue(held: HeldLease, nowMs: number, share: number): boolean {
  return nowMs - held.askedMs >= renewEveryMs(held.ttlMs) * share;
}

/** @throws for an exit of the shard */
export function leaseOf(held: HeldLease): Lease {
  if (held.lease === null) throw new Error('an exit of the shard has no lease');
  return held.lease;
}
