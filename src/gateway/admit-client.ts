/** Whether a client may do more: by its limits at this gateway and, of its rate, by what all gateways together served. */
import type { Client } from '../access/clients.js';
import { rateDetail, type Admission, type LimitedKind } from '../access/rate-limit.js';
import type { Failure } from '../core/errors.js';
import type { Answer } from '../state/ports.js';
import type { GatewayServices } from './services.js';

type Services = Pick<GatewayServices, 'rateLimits' | 'sharedLimits'>;

/** At once for a client without a rate, or where there is one gateway; most requests of a fast client cost no call either. */
export function admitClient(
  services: Services,
  client: Client,
  kind: LimitedKind,
  nowMs: number,
): Answer<Admission> {
  const admitted = services.rateLimits.admit(client, kind, nowMs);
  const isShared = services.sharedLimits !== null && client.limits.requests !== null;
  return isShared && admitted.kind === 'ok' ? withinShared(services, client, admitted) : admitted;
}

/** What the client is told. */
export function limitFailure({ detail, retryAfterMs }: Extract<Admission, { kind: 'limited' }>): Failure {
  return { code: 'client_limited', detail, retryAfterMs };
}

async function withinShared(
  { sharedLimits }: Services,
  { name, limits: { requests } }: Client,
  admitted: Extract<Admission, { kind: 'ok' }>,
): Promise<Admission> {
  if (sharedLimits === null || requests === null) return admitted;
  const { granted, retryAfterMs } = await sharedLimits.take(`requests ${name}`, requests, 1);
  if (granted > 0) return admitted;
  admitted.release();
  return { kind: 'limited', retryAfterMs, detail: rateDetail(name, requests) };
}
