/** What the ledger knows of one exit, put together for people. */
import { isAside, noBan } from '../facts/ban.js';
import type { BanState } from '../facts/ban.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { ExitSnapshot, HeldBan } from './effect.js';
import type { Orders } from './orders.js';
import type { SiteBans } from './site-bans.js';
import type { Slots } from './slots.js';
import type { Health } from './transport-health.js';

/** The parts of a ledger that are looked at. */
export interface LedgerParts {
  readonly slots: Slots;
  readonly health: ReadonlyMap<number, Health>;
  readonly sites: SiteBans;
  readonly orders: Orders;
}

/** One exit; null where the slot is free. */
export function snapshotOf(parts: LedgerParts, slot: number): ExitSnapshot | null {
  const { slots, sites } = parts;
  const upstream = slots.upstreams[slot];
  if (upstream === undefined || upstream === null) return null;
  const ban = parts.health.get(slot)?.ban ?? noBan;
  const banned = [...sites.of(slot)].filter(([, record]) => isAside(record.ban));
  const firstByteMs = slots.firstByteMs[slot] ?? 0;
  return {
    upstream,
    order: parts.orders.of(slot),
    inFlight: slots.inFlight[slot] ?? 0,
    firstByteMs: firstByteMs === 0 ? null : firstByteMs,
    downUntilMs: isAside(ban) ? ban.untilMs : null,
    strikes: ban.strikes,
    successes: slots.successes[slot] ?? 0,
    failures: slots.failures[slot] ?? 0,
    bannedSites: banned.map(([site]) => site),
  };
}

/** Every exit. */
export function snapshotAll(parts: LedgerParts): ExitSnapshot[] {
  return parts.slots.upstreams
    .map((_, slot) => snapshotOf(parts, slot))
    .filter((exit): exit is ExitSnapshot => exit !== null);
}

/** Every ban that is on, its time or its trial still to end. */
export function bansIn(parts: LedgerParts): HeldBan[] {
  const held: HeldBan[] = [];
  const add = (slot: number, site: string | null, ban: BanState): void => {
    const upstream: Upstream | null | undefined = parts.slots.upstreams[slot];
    if (upstream !== undefined && upstream !== null && isAside(ban)) held.push({ slot, upstream, site, ban });
  };
  for (const [slot, { ban }] of parts.health) add(slot, null, ban);
  for (const [slot, site, { ban }] of parts.sites.all()) add(slot, site, ban);
  return held;
}
