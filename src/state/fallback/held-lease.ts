/** One exit that a gateway holds, by a lease or as its own part, and what is counted of all. It decides nothing. */
import type { Clock } from '../../core/clock.js';
import { lostAtMs, renewEveryMs } from '../../facts/lease.js';
import type { Lease, LeaseAsk, Leases } from '../ports.js';

/** What held leases are made of. */
export interface HeldLeasesParts {
  readonly leases: Leases;
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Given back after so long without use. */
  readonly idleMs: number;
  isUp(): boolean;
}

/** What is asked for; times are those of the parts where they are left out. */
export type HeldLeaseAsk = Omit<LeaseAsk, 'ttlMs'> & { readonly ttlMs?: number; readonly idleMs?: number };

/** A lease in use. */
export interface HeldLease {
  /** Null for an exit of the own part, used while the store is away. */
  lease: Lease | null;
  /** Of the own part and in use since before the store went away: used on until it is back, lease or not. */
  isKept: boolean;
  /** The store was away, and has not confirmed it since. */
  isUnsure: boolean;
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
export type HeldBy = Pick<HeldLease, 'lease' | 'isKept' | 'askedMs' | 'lostMs' | 'otherUseMs'>;

/** By a lease that was given just now. @param at.askedMs our clock before it was asked for */
export function heldBy(
  lease: Lease,
  at: { readonly askedMs: number; readonly ttlMs: number; readonly nowMs: number },
): HeldBy {
  const { askedMs, ttlMs, nowMs } = at;
  const otherUseMs = lease.usedAgoMs === null ? -Infinity : nowMs - lease.usedAgoMs;
  return { lease, isKept: false, askedMs, lostMs: lostAtMs(askedMs, ttlMs), otherUseMs };
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

/** Whether so much of the time between two renewals is over. */
export function isDue(held: HeldLease, nowMs: number, share: number): boolean {
  return nowMs - held.askedMs >= renewEveryMs(held.ttlMs) * share;
}

/** A lease's name among those of a gateway. */
export function keyOf(pool: string, exit: string): string {
  return `${exit} ${pool}`;
}

/** The lease that the store knows. */
export function leaseOf(held: HeldLease): Lease {
  if (held.lease === null) throw new Error('an exit of the own part has no lease');
  return held.lease;
}

/** Whether the store has to be asked for it, when it is there. */
export function isOpen({ isKept, isUnsure }: HeldLease): boolean {
  return isKept || isUnsure;
}
