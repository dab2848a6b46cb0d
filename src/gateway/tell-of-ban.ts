/** What follows when the ledger sets an exit aside, or it comes back: its evidence is kept, everybody is told, its tunnels are dealt with. */
import type { BanEvidence } from '../core/events.js';
import type { Effect } from '../exits/effect.js';
import { cutOnBan } from './cut-tunnels.js';
import type { Exit } from './pick-exit.js';
import type { GatewayServices } from './services.js';

/** Tells of an exit (or its login) that was set aside or spared, and deals with its tunnels; true when it was set aside. */
export function tellOfBan(
  services: GatewayServices,
  exit: Pick<Exit, 'upstream' | 'slot'>,
  effect: Effect,
  evidence: () => BanEvidence,
): boolean {
  if (effect.kind === 'none') return false;
  const { id: upstream, label: upstreamLabel } = exit.upstream;
  if (effect.kind === 'returned') {
    for (const site of effect.isEverywhere === true ? [null, effect.site] : [effect.site]) {
      const detail = { exit: upstream, label: upstreamLabel, site };
      services.emit({ type: 'note', level: 'info', what: 'exit_returned', detail });
    }
    return false;
  }
  const { site, reason, credential } = effect;
  if (effect.kind === 'spared') {
    const whose = credential === undefined ? {} : { credential };
    services.emit({
      ...{ type: 'ban_spared', upstream, upstreamLabel, ...whose },
      ...{ site, reason, pool: effect.pool },
    });
    return false;
  }
  const { strikes, forMs } = effect;
  const known = evidence();
  const told = { upstream, upstreamLabel, reason, strikes, forMs, evidence: known };
  const nowMs = services.clock.nowMs();
  if (credential !== undefined && site !== null) {
    services.ledger.credentials.note(credential, site, known, nowMs);
    services.emit({ type: 'credential_banned', credential, site, ...told });
    cutOnBan(services, { exit: credential, site });
    return true;
  }
  services.ledger.noteEvidence(exit.slot, site, known, nowMs);
  services.emit({ type: 'exit_banned', site, ...told });
  cutOnBan(services, { exit: upstream, site });
  return true;
}
