/**
 * Ends tunnels whose exit is no longer wanted: a browser would else go on by one that was banned (C19) or removed (Z09)
 * long ago.
 */
import type { TunnelRules } from '../routing/runtime.js';
import type { Relay } from './relay.js';

/** An exit that was banned, for a site or (null) altogether. */
export interface BannedExit {
  readonly exit: string;
  readonly site: string | null;
}

/** Deals with the tunnels of a banned exit as the rules say; returns how many it is about. */
export function cutOnBan(relays: Iterable<Relay>, rules: TunnelRules, ban: BannedExit): number {
  if (rules.onBan === 'keep') return 0;
  let count = 0;
  for (const relay of [...relays]) {
    if (relay.exit !== ban.exit || (ban.site !== null && ban.site !== relay.site)) continue;
    if (rules.onBan === 'close') relay.cut('cut_by_policy');
    else relay.cutWhenIdle('cut_by_policy', rules.banIdleMs);
    count++;
  }
  return count;
}

/** Ends the tunnels of these exits at once; returns how many. */
export function cutTunnelsOf(relays: Iterable<Relay>, exits: ReadonlySet<string>): number {
  const theirs = [...relays].filter((relay) => exits.has(relay.exit));
  for (const relay of theirs) relay.cut('cut_by_policy');
  return theirs.length;
}
