/**
 * How gateways share the exits of a pool, as configured, and what choosing sees of it. Which exits a gateway has at a
 * moment is decided in `exits/shares.ts`; nothing here knows of Redis.
 */
import type { MemberList, PaceView } from './pool.js';

/**
 * `none`: every gateway uses every exit. `modulo`: by the place in the list and the number of the gateway, as configured.
 * `ring`: by consistent hashing over the gateways that are there. `broker`: by leases.
 */
export type SharingKind = 'none' | 'modulo' | 'ring' | 'broker';

/** What a pool does while the shared state is away. */
export type OnLoss =
  /** Each gateway goes on with its own part. */
  | { readonly kind: 'shard' }
  /** Another pool serves instead. */
  | { readonly kind: 'reserve'; readonly pool: string }
  /** Requests are refused. */
  | { readonly kind: 'fail' };

/** Leases of `sharing: broker`. */
export interface LeaseRules {
  /** Gateways that may have an exit at once; 1: exclusive. */
  readonly holders: number;
  readonly ttlMs: number;
  /** Given back after so long without use. */
  readonly idleMs: number;
}

/** How a pool is shared. */
export interface Sharing {
  readonly kind: SharingKind;
  readonly lease: LeaseRules;
  readonly onLoss: OnLoss;
  /** Group of each site that is named in one, for `partition: by_site_group`; null: exits serve all sites. */
  readonly siteGroups: ReadonlyMap<string, string> | null;
}

/** Whether several gateways may use one exit at once, so that none knows when it was used last. */
export function isUsedByMany(sharing: Sharing | null): boolean {
  if (sharing === null || sharing.kind === 'none') return true;
  return sharing.kind === 'broker' && sharing.lease.holders > 1;
}

/** The group of all sites that are named in none. */
export const OTHER_SITES = 'other sites';

/** The group of a site, all groups in the order of their names; null where exits serve all sites. */
export function groupOf({ siteGroups }: Sharing, site: string): string | null {
  return siteGroups === null ? null : (siteGroups.get(site) ?? OTHER_SITES);
}

/** All groups of sites. */
export function groupsIn({ siteGroups }: Sharing): readonly string[] {
  return [...new Set([...(siteGroups?.values() ?? []), OTHER_SITES])].sort();
}

/** Which exits of a pool this gateway may use now, for one site. Exits that it may not count as if they rested. */
export interface ShareView {
  /** A list that holds all that may be used, and not many others; null: the list of the pool. */
  readonly list: MemberList | null;
  /** What to say where none may be used. */
  readonly whyNone: string;
  /** @param isPinned whether the session that asks is on this exit: it may follow it to a gateway whose it is not */
  isOurs(index: number, isPinned: boolean): boolean;
  /** Whether waiting for the exit makes sense, for a session that is on it. */
  mayBecomeOurs(index: number): boolean;
  /**
   * Monotonic time from which an exit has rested of which another gateway may have made the last use, before it became
   * ours; −Infinity where none did. Not given: exits don't come and go.
   */
  restedAtMs?(index: number, rest: { readonly spacingMs: number; readonly nowMs: number }): number;
}

/** From when an exit has rested: by our own last use, and by that of the gateway whose exit it was before. */
export function restedAtMs(
  pace: PaceView,
  share: ShareView | null,
  of: { readonly index: number; readonly slot: number; readonly nowMs: number },
): number {
  const ownMs = pace.restedAtMs(of.slot);
  if (share?.restedAtMs === undefined || pace.spacingMs === 0) return ownMs;
  return Math.max(ownMs, share.restedAtMs(of.index, { spacingMs: pace.spacingMs, nowMs: of.nowMs }));
}
