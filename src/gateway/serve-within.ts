/**
 * Serves a request that is understood, if its client may do more: by its limits at this gateway and, of its rate, by what
 * all gateways together served.
 */
import { rateDetail, type Admission } from '../access/rate-limit.js';
import type { ClientExchange } from './exchange.js';
import { serveForward } from './forward.js';
import { orGone } from './or-gone.js';
import { refuse } from './respond.js';
import type { GatewayServices } from './services.js';
import type { Trace } from './trace.js';
import { serveTunnel } from './tunnel.js';
import type { Ask } from './understand.js';

type Admitted = Extract<Admission, { kind: 'ok' }>;

/** Serves it or says why not. Nothing is waited for where the client has no rate, or where there is one gateway. */
export async function serveWithin(
  services: GatewayServices,
  exchange: ClientExchange,
  asked: Ask,
  trace: Trace,
): Promise<void> {
  const { client, context } = asked;
  const serveIt = context.kind === 'tunnel' ? serveTunnel : serveForward;
  const kind = context.kind === 'tunnel' ? 'tunnel' : 'exchange';
  let admitted = services.rateLimits.admit(client, kind, services.clock.nowMs());
  if (admitted.kind === 'ok' && services.sharedLimits !== null && client.limits.requests !== null) {
    const shared = await withinShared(services, exchange, asked, admitted);
    if (shared === null) {
      trace.leave(services.emit, services.clock.nowMs());
      return;
    }
    admitted = shared;
  }
  if (admitted.kind === 'limited') {
    const { detail, retryAfterMs } = admitted;
    refuse(services, exchange, trace, { code: 'client_limited', detail, retryAfterMs });
    return;
  }
  exchange.meter = services.rateLimits.meter(client, services.clock);
  services.admission.begin();
  try {
    await serveIt(services, exchange, asked, trace);
  } finally {
    services.admission.end();
    admitted.release();
  }
}

/** Null: the client left meanwhile. Most requests of a fast client cost no call. */
async function withinShared(
  { sharedLimits }: GatewayServices,
  exchange: ClientExchange,
  { client }: Ask,
  admitted: Admitted,
): Promise<Admission | null> {
  const { name, limits } = client;
  if (sharedLimits === null || limits.requests === null) return admitted;
  const taken = await orGone(exchange, sharedLimits.take(`requests ${name}`, limits.requests, 1));
  if (taken !== null && taken.granted > 0) return admitted;
  admitted.release();
  if (taken === null) return null;
  return { kind: 'limited', retryAfterMs: taken.retryAfterMs, detail: rateDetail(name, limits.requests) };
}
