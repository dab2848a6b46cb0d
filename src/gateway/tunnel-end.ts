/** What the end of a tunnel is held to have shown: for the health of its exit, the site guard, and bans at the site. */
import type { TunnelSign } from '../outcome/tunnel-signs.js';
import type { Delivery } from './attempt.js';
import { plainEvidence } from './ban-evidence.js';
import { banReported } from './feedback.js';
import { showSite } from './guard-site.js';
import type { Exit } from './pick-exit.js';
import type { GatewayServices } from './services.js';
import { tellOfBan } from './tell-of-ban.js';
import type { Ask } from './understand.js';

/** A tunnel that is over. */
export interface EndedTunnel {
  readonly exit: Exit;
  readonly ask: Ask;
  readonly delivery: Delivery;
  readonly stoodMs: number;
}

/**
 * Judges the end of a tunnel. It says nothing when we cut it, when the client left before an answer could have come, or
 * when no exit stands between us and the target.
 */
export function judgeTunnelEnd(services: GatewayServices, ended: EndedTunnel): void {
  const { exit, ask, delivery, stoodMs } = ended;
  const { tunnel, end } = delivery;
  if (tunnel === undefined || exit.upstream.protocol === 'direct') return;
  if (end === 'cut_by_drain' || end === 'cut_by_policy') return;
  const hasLeft = end === 'client_gone' && stoodMs < ask.rules.runtime.timeouts.dialMs;
  if (hasLeft && tunnel.bytesOut === 0) return;
  const { site } = ask.context.target;
  const nowMs = services.clock.nowMs();
  const { sign, against } = services.tunnelSigns.saw(site, exit.slot, tunnel, nowMs);
  if (sign === null) return;
  if (sign !== 'tiny') showSite(services, site, { exit: exit.slot, sighting: { kind: 'bad', rule: null } });
  if (services.siteGuard.isDown(site)) return;
  holdAgainst(services, { exit, site, request: ask.context.requestId, sign });
  if (against === null) return;
  const effect = services.ledger.ban(exit.slot, site, { reason: 'tunnel_signs', isDoubtful: true }, nowMs);
  const found = `${against.count} times: ${against.kinds.join(', ')}`;
  tellOfBan(services, exit, effect, () => ({
    ...plainEvidence(ask.context.requestId, 'tunnel signs'),
    found,
  }));
}

/** A sign is enough where a client has said so already; silence counts against the health of the exit as well. */
function holdAgainst(
  services: GatewayServices,
  seen: { readonly exit: Exit; readonly site: string; readonly request: string; readonly sign: TunnelSign },
): void {
  const { ledger, clock, reports } = services;
  const { exit, site, request, sign } = seen;
  const nowMs = clock.nowMs();
  if (reports.isReported(exit.upstream.id, site, nowMs))
    banReported(services, { exit: exit.upstream.id, site, request, field: `tunnel: ${sign}` });
  if (sign !== 'cut' && sign !== 'silence') return;
  if (services.siteGuard.isFailingAll(site, nowMs)) return;
  const effect = ledger.recordTransportFailure(exit.slot, 'silent', nowMs, site);
  tellOfBan(services, exit, effect, () => plainEvidence(request, 'silent'));
}
