/**
 * Ends tunnels whose exit or client is no longer wanted: a browser would else go on by an exit that was banned long ago
 * (C19), and a removed client by a tunnel that it still has (Z09). What is cut is counted by how it ended.
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
    const { exit, site } = relay.owner;
    if (exit !== ban.exit || (ban.site !== null && ban.site !== site)) continue;
    if (rules.onBan === 'close') relay.cut('cut_by_ban');
    else relay.cutWhenIdle('cut_by_ban', rules.banIdleMs);
    count++;
  }
  return count;
}

/** Ends tunnels of exits and clients that are no more, at once; returns how many. */
export function cutRemoved(
  relays: Iterable<Relay>,
  is: { readonly exit: (id: string) => boolean; readonly client: (name: string) => boolean },
): number {
  let count = 0;
  for (const relay of [...relays]) {
    if (is.exit(relay.owner.exit) && is.client(relay.owner.client)) continue;
    relay.cut('cut_by_removal');
    count++;
  }
  return count;
}
