/** What the gateway itself says to a client: error answers, and the fields that tell how an answer came about. */
import { errorTable, type Failure } from '../core/errors.js';
import { Fields } from '../http1/fields.js';
import { serializeResponseHead } from '../http1/head.js';
import { proxyStatusField } from '../protocol/proxy-status.js';
import type { Route } from '../routing/route.js';
import type { ClientExchange } from './exchange.js';
import type { GatewayServices } from './services.js';
import type { Trace } from './trace.js';
import type { Refused } from './understand.js';

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  421: 'Misdirected Request',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  508: 'Loop Detected',
};

/** Appends what an answer says of its making, as far as the route exposes it. */
export function appendMaking(
  fields: Fields,
  trace: Trace,
  expose: Route['expose'],
  isExplained = false,
): void {
  if (expose === 'none') return;
  fields.append('X-Turnpike-Request-Id', trace.receipt ?? trace.requestId);
  if (trace.upstream !== null) {
    fields.append('X-Turnpike-Upstream', trace.upstream.id);
    if (expose === 'full') fields.append('X-Turnpike-Upstream-Address', trace.upstream.label);
  }
  fields.append('X-Turnpike-Attempts', String(trace.attempts));
  if (trace.session !== null)
    fields.append('X-Turnpike-Session', `${trace.session};${trace.generation ?? 0}`);
  fields.append('X-Turnpike-Verdict', trace.verdict);
  if (isExplained) fields.append('X-Turnpike-Explain', explanation(trace));
}

function explanation({ route, pool, why, tier }: Trace): string {
  const made = `route=${route}; pool=${pool ?? ''}; exit=${why}`;
  return tier === null ? made : `${made}; why=${tier.why}`;
}

/** Why a request is not even tried: the site guard has found the site down. */
export function siteIsDown(site: string, retryAfterMs: number): Failure {
  const detail = `The site ${site} fails through every exit; one request at a time tries whether it is back.`;
  return { code: 'target_failed', title: 'The site is down.', detail, retryAfterMs };
}

/**
 * Answers with an error: problem+json (RFC 9457) with code and blame, `Proxy-Status` (RFC 9209), `Retry-After` where
 * it makes sense, a challenge with 407. Ends the exchange and its trace.
 */
export function refuse(
  services: GatewayServices,
  exchange: ClientExchange,
  trace: Trace,
  failure: Failure,
): void {
  const row = errorTable[failure.code];
  trace.code = failure.code;
  trace.blame = row.blame;
  const body = Buffer.from(JSON.stringify(problemOf(trace.requestId, failure)) + '\n');
  if (exchange.head.method === 'CONNECT' && row.status !== 407) exchange.closeAfter();
  exchange.respond(
    {
      status: row.status,
      reason: REASONS[row.status] ?? '',
      fields: errorFields(trace, failure),
      code: failure.code,
    },
    { kind: 'length', length: body.length },
  );
  trace.answered(row.status, services.clock.nowMs());
  if (exchange.head.method !== 'HEAD') exchange.write(body);
  const bytes = { in: exchange.bytesIn, out: exchange.bytesOut };
  exchange.end(null);
  trace.finish(
    services.emit,
    services.clock.nowMs(),
    trace.kind === 'refused' ? 'complete' : 'failed',
    bytes,
  );
}

/** The same of a request that was read; after many failed logins it is held back, so that guessing is slow. */
export function refuseAsked(
  services: GatewayServices,
  exchange: ClientExchange,
  trace: Trace,
  { failure, delayMs = 0 }: Refused,
): void {
  const answer = (): void => refuse(services, exchange, trace, failure);
  if (delayMs === 0) answer();
  else services.wheel.arm(delayMs, answer);
}

/** A fault of ours: tells of it, and the client what little it needs to know. */
export function failInternally(
  services: GatewayServices,
  exchange: ClientExchange,
  trace: Trace,
  error: unknown,
): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const detail = { requestId: trace.requestId, error: text };
  services.emit({ type: 'note', level: 'error', what: 'internal_error', detail });
  if (exchange.isCommitted) exchange.abort();
  else
    refuse(services, exchange, trace, {
      code: 'internal_error',
      detail: 'The gateway failed; its log has the cause.',
    });
  trace.finish(services.emit, services.clock.nowMs(), 'failed');
}

/** The same in short, as bytes, for a connection that is closed before anything was read from it. */
export function refusalInPassing(failure: Failure): string {
  const row = errorTable[failure.code];
  const body = JSON.stringify(problemOf('', failure)) + '\n';
  const fields = Fields.of(
    ['Content-Type', 'application/problem+json'],
    ['Retry-After', '1'],
    ['Content-Length', String(body.length)],
    ['Connection', 'close'],
  );
  return serializeResponseHead({ status: row.status, reason: REASONS[row.status] ?? '', fields }) + body;
}

function errorFields(trace: Trace, failure: Failure): Fields {
  const row = errorTable[failure.code];
  const fields = Fields.of(['Content-Type', 'application/problem+json']);
  appendMaking(fields, trace, 'id');
  const details = { gateway: 'turnpike', error: row.proxyStatus, details: failure.detail };
  fields.append(
    'Proxy-Status',
    proxyStatusField(trace.upstream === null ? details : { ...details, nextHop: trace.upstream.id }),
  );
  const isLater = row.status === 503 || row.status === 429 || failure.retryAfterMs !== undefined;
  if ((failure.isRetryable ?? row.retryable) && isLater)
    fields.append('Retry-After', String(Math.max(1, Math.ceil((failure.retryAfterMs ?? 1000) / 1000))));
  if (row.status === 407) fields.append('Proxy-Authenticate', 'Basic realm="turnpike", charset="UTF-8"');
  return fields;
}

function problemOf(requestId: string, failure: Failure): Record<string, unknown> {
  const row = errorTable[failure.code];
  return {
    type: 'about:blank',
    title: failure.title ?? row.title,
    status: row.status,
    detail: failure.detail,
    code: failure.code,
    blame: row.blame,
    retryable: failure.isRetryable ?? row.retryable,
    advice: row.advice,
    requestId,
  };
}
