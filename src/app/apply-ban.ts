/** What another gateway decided about an exit, put into this one's ledger. */
import { CLEAR } from '../facts/ban.js';
import type { BanAsk, Effect } from '../exits/effect.js';
import type { Ledger } from '../exits/ledger.js';
import type { GatewayServices } from '../gateway/services.js';
import { readSiteWord } from '../facts/site-word.js';
import { cutOnBan } from '../gateway/cut-tunnels.js';
import { hearOfSite } from '../gateway/guard-site.js';
import { banKey } from '../state/ban-key.js';
import type { SharedBan } from '../state/ports.js';
import { CREDENTIAL_PREFIX } from '../upstreams/credential-of.js';
import type { Pool } from '../upstreams/pool.js';

/** Why a ban ended whose trial went well. */
export const RETURNED = 'returned';

/** Sets the exit or the credential aside, or takes it back; what no pool here has is nobody's. */
export function applyBan(services: GatewayServices, ban: SharedBan): void {
  const { clock, emit } = services;
  const { exit, site, reason, leftMs, by } = ban;
  const word = readSiteWord(ban);
  if (word !== null) {
    if (site !== null) hearOfSite(services, site, word);
    return;
  }
  const detail = { exit, site, by };
  if (leftMs <= 0) {
    if (lift(services, ban, clock.nowMs()))
      emit({ type: 'note', level: 'info', what: 'exit_lifted_elsewhere', detail });
    return;
  }
  // A gateway with a broken network finds fault with every exit: of those only the share of the pool is believed.
  const ask = { reason, forMs: leftMs, isOrder: site !== null, isExact: true };
  if (setAside(services, ban, ask)?.kind !== 'banned') return;
  cutOnBan(services, { exit, site });
  emit({
    type: 'note',
    level: 'info',
    what: 'exit_banned_elsewhere',
    detail: { ...detail, reason, forMs: leftMs },
  });
}

function setAside(services: GatewayServices, ban: SharedBan, ask: BanAsk): Effect | null {
  const { ledger, clock } = services;
  const { exit, site } = ban;
  if (exit.startsWith(CREDENTIAL_PREFIX))
    return site === null ? null : ledger.credentials.banById(exit, site, ask, clock.nowMs());
  const slot = slotOf(services.rules().runtime.pools.values(), exit);
  return slot === null ? null : ledger.ban(slot, site, ask, clock.nowMs());
}

function lift(services: GatewayServices, { exit, site, reason }: SharedBan, nowMs: number): boolean {
  const { ledger } = services;
  if (exit.startsWith(CREDENTIAL_PREFIX)) return site !== null && ledger.credentials.lift(exit, site, nowMs);
  const slot = slotOf(services.rules().runtime.pools.values(), exit);
  if (slot === null || ledger.usableAtMs(slot, site ?? '') === CLEAR) return false;
  ledger.lift(slot, site, nowMs, reason === RETURNED);
  return true;
}

/** Keys of all bans that are on here, as words about them have. */
export function heldBans(ledger: Ledger): ReadonlySet<string> {
  return new Set([
    ...ledger.bans().map(({ upstream, site }) => banKey({ exit: upstream.id, site })),
    ...ledger.credentials.held().map(({ credential, site }) => banKey({ exit: credential, site })),
  ]);
}

function slotOf(pools: Iterable<Pool>, exit: string): number | null {
  for (const { indexById, slots } of pools) {
    const index = indexById.get(exit);
    if (index !== undefined) return slots[index] ?? null;
  }
  return null;
}
