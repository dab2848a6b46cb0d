/** The desks from which the gateway is run while it serves: exits and bans, and what follows when an exit is removed. */
import { BanDesk } from '../exits/ban-desk.js';
import { ExitDesk } from '../exits/exit-desk.js';
import type { Roster } from '../exits/roster.js';
import type { UpstreamLogins } from '../exits/upstream-logins.js';
import { cutTunnelsOf } from '../gateway/cut-tunnels.js';
import type { GatewayServices } from '../gateway/services.js';
import type { Pool } from '../upstreams/pool.js';

/** The desks. */
export interface Desks {
  readonly exits: ExitDesk;
  readonly bans: BanDesk;
}

/** What the desks need beside the services. */
export interface DeskNeeds {
  readonly roster: Roster;
  /** Puts new snapshots of pools in force. */
  setPools(pools: ReadonlyMap<string, Pool>): void;
  readonly logins: UpstreamLogins;
}

/** Makes them. */
export function makeDesks(services: GatewayServices, needs: DeskNeeds): Desks {
  const { ledger, clock, emit, pins } = services;
  const exits = new ExitDesk({
    ...{ ledger, clock, emit, pins, roster: needs.roster },
    pools: () => services.rules().runtime.pools,
    setPools: (pools) => needs.setPools(pools),
    onRemoved: (gone) => closeExits(services, gone),
  });
  needs.logins.watch((keys) => void renewLogins(exits, needs, keys));
  return { exits, bans: new BanDesk({ ledger, clock, emit, slotOf: (id) => exits.slotOf(id) }) };
}

/** Exits that were added by hand follow the vault as those of the configuration do. */
async function renewLogins(
  exits: ExitDesk,
  { roster, logins }: DeskNeeds,
  keys: ReadonlySet<string>,
): Promise<void> {
  for (const key of roster.credentials().keys())
    if (keys.has(key)) await exits.relogin(key, await logins.read(key));
}

/** Z09: what still goes by an exit that was removed ends now; plain requests under way may finish. */
function closeExits({ relays, opener }: GatewayServices, gone: ReadonlySet<string>): void {
  cutTunnelsOf(relays, gone);
  opener.idle.dropWhere((key) => gone.has(key.slice(0, key.indexOf(' '))));
}

/** Every exit of these pools. */
export function* exitsIn(pools: Iterable<Pool>): Generator<{ id: string; label: string; pool: string }> {
  for (const { name: pool, upstreams } of pools) {
    for (const { id, label } of upstreams) yield { id, label, pool };
  }
}
