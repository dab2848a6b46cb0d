/**
 * Times and order of leases on exits. A lease is for efficiency: an upstream can't check a fence, so a holder that was
 * asleep may overlap with the next one; it must notice by its own clock, early.
 */

/** Where leases of a pool are kept together; the candidates of one call come from one bucket. */
export const LEASE_BUCKETS = 64;

/** Most candidates of one call. */
export const MAX_CANDIDATES = 8;

/** Share of the time after which a holder believes no more in its lease: clocks differ in speed, and calls take time. */
const BELIEVED = 0.8;

/** The place of a lease in the order of all leases of its bucket. */
export interface Fence {
  /** Named anew whenever the store has lost its count. */
  readonly epoch: string;
  readonly fence: number;
}

/** When a lease counts as lost, by the holder's monotonic clock read *before* it asked for it. */
export function lostAtMs(askedAtMs: number, ttlMs: number): number {
  return askedAtMs + ttlMs * BELIEVED;
}

/** How long between renewals. */
export function renewEveryMs(ttlMs: number): number {
  return ttlMs / 3;
}

/** Whether a word with this fence is too late: another epoch, or somebody came after. */
export function isFencedOff(word: Fence, current: Fence): boolean {
  return word.epoch !== current.epoch || word.fence < current.fence;
}

/** The bucket of an exit, 0…63, the same on every gateway (FNV-1a). */
export function leaseBucket(exit: string): number {
  return bucketOf(exit, LEASE_BUCKETS);
}

/** One of so many buckets for a text (FNV-1a over its UTF-16 units). */
export function bucketOf(text: string, buckets: number): number {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return ((state ^ (state >>> 15)) >>> 0) % buckets;
}
