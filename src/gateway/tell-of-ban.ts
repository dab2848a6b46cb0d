/** What follows when the ledger sets an exit aside: its evidence is kept, everybody is told, its tunnels are dealt with. */
import type { BanEvidence } from '../core/events.js';
import type { Effect } from '../exits/effect.js';
import { cutOnBan } from './cut-tunnels.js';
import type { Exit } from './pick-exit.js';
import type { GatewayServices } from './services.js';

/** Tells of an exit that was set aside or spared, and deals with its tunnels; true when it was set aside. */
export function tellOfBan(
  services: GatewayServices,
  exit: Pick<Exit, 'upstream' | 'slot'>,
  effect: Effect,
  evidence: () => BanEvidence,
): boolean {
  if (effect.kind !== 'banned' && effect.kind !== 'spared') return false;
  const { id: upstream, label: upstreamLabel } = exit.upstream;
  const { site, reason } = effect;
  if (effect.kind === 'spared') {
    services.emit({ type: 'ban_spared', upstream, upstreamLabel, site, reason, pool: effect.pool });
    return false;
  }
  const { strikes, forMs } = effect;
  const known = evidence();
  services.ledger.noteEvidence(exit.slot, site, known, services.clock.nowMs());
  services.emit({
    type: 'exit_banned',
    upstream,
    upstreamLabel,
    site,
    reason,
    strikes,
    forMs,
    evidence: known,
  });
  cutOnBan(services.relays, services.rules().runtime.tunnels, { exit: upstream, site });
  return true;
}
