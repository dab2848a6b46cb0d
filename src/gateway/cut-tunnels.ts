/**
 * Ends tunnels whose exit is no longer wanted: a browser would else go on by one that was banned (C19) or removed (Z09)
 * long ago.
 */
import { CREDENTIAL_PREFIX, credentialId, credentialOf } from '../upstreams/credential-of.js';
import { upstreamIn } from '../upstreams/pool.js';
import type { GatewayServices } from './services.js';
import type { TunnelRules } from '../routing/runtime.js';
import type { Relay } from './relay.js';

/** What was banned, for a site or (null) altogether: an exit, or a credential and with it all exits that share it. */
export interface BannedExit {
  readonly exit: string;
  readonly site: string | null;
}

/**
 * Deals with the tunnels of whom was banned; returns how many it is about.
 * @param onBan what becomes of them; without it as the rules say
 */
export function cutOnBan(
  services: Pick<GatewayServices, 'relays' | 'rules'>,
  ban: BannedExit,
  onBan: TunnelRules['onBan'] | null = null,
): number {
  const { tunnels, pools } = services.rules().runtime;
  const how = onBan ?? tunnels.onBan;
  if (how === 'keep') return 0;
  const there = [...services.relays].filter(({ site }) => ban.site === null || ban.site === site);
  const banned = new Set([...new Set(there.map(({ exit }) => exit))].filter(isMeant));
  const theirs = there.filter(({ exit }) => banned.has(exit));
  for (const relay of theirs) {
    if (how === 'close') relay.cut('cut_by_policy');
    else relay.cutWhenIdle('cut_by_policy', tunnels.banIdleMs);
  }
  return theirs.length;

  function isMeant(exit: string): boolean {
    if (!ban.exit.startsWith(CREDENTIAL_PREFIX)) return exit === ban.exit;
    const upstream = upstreamIn(pools.values(), exit);
    const name = upstream === null ? null : credentialOf(upstream);
    return name !== null && credentialId(name) === ban.exit;
  }
}

/** Ends the tunnels of these exits at once; returns how many. */
export function cutTunnelsOf(relays: Iterable<Relay>, exits: ReadonlySet<string>): number {
  const theirs = [...relays].filter((relay) => exits.has(relay.exit));
  for (const relay of theirs) relay.cut('cut_by_policy');
  return theirs.length;
}
