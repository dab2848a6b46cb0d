/** What another gateway decided about an exit, put into this one's ledger. */
import { CLEAR } from '../facts/ban.js';
import type { Ledger } from '../exits/ledger.js';
import type { GatewayServices } from '../gateway/services.js';
import { cutOnBan } from '../gateway/cut-tunnels.js';
import { banKey } from '../state/ban-key.js';
import type { SharedBan } from '../state/ports.js';
import type { Pool } from '../upstreams/pool.js';

/** Sets the exit aside, or takes it back; one that is in no pool here is nobody's. */
export function applyBan(services: GatewayServices, ban: SharedBan): void {
  const { ledger, clock, relays, emit } = services;
  const { runtime } = services.rules();
  const { exit, site, reason, leftMs, by } = ban;
  const slot = slotOf(runtime.pools.values(), exit);
  if (slot === null) return;
  const detail = { exit, site, by };
  if (leftMs <= 0) {
    if (ledger.usableAtMs(slot, site ?? '') === CLEAR) return;
    ledger.lift(slot, site, clock.nowMs());
    emit({ type: 'note', level: 'info', what: 'exit_lifted_elsewhere', detail });
    return;
  }
  // A gateway with a broken network finds fault with every exit: of those only the share of the pool is believed.
  const isOrder = site !== null;
  const ask = { reason, forMs: leftMs, isOrder, isExact: true };
  if (ledger.ban(slot, site, ask, clock.nowMs()).kind !== 'banned') return;
  cutOnBan(relays, runtime.tunnels, { exit, site });
  emit({
    type: 'note',
    level: 'info',
    what: 'exit_banned_elsewhere',
    detail: { ...detail, reason, forMs: leftMs },
  });
}

/** Keys of all bans that are on here, as words about them have. */
export function heldBans(ledger: Ledger): ReadonlySet<string> {
  return new Set(ledger.bans().map(({ upstream, site }) => banKey({ exit: upstream.id, site })));
}

function slotOf(pools: Iterable<Pool>, exit: string): number | null {
  for (const { indexById, slots } of pools) {
    const index = indexById.get(exit);
    if (index !== undefined) return slots[index] ?? null;
  }
  return null;
}
