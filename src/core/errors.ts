/**
 * The table of everything that the gateway itself can answer, and whose fault it was.
 * A code is stable: crawlers branch on it. The README's table is checked against this one.
 */

/** Whose fault: the crawler's, ours, the proxy's we go out by, or the site's. */
export type Blame = 'client' | 'gateway' | 'upstream' | 'target';

/** One kind of error answer. */
export interface ErrorRow {
  readonly status: number;
  readonly blame: Blame;
  /** Whether the same request may work when it is sent again later. */
  readonly retryable: boolean;
  /** The error type of RFC 9209, section 2.3, or null where none fits. */
  readonly proxyStatus: string | null;
  /** One sentence: what happened. */
  readonly title: string;
  /** One sentence: what to do about it. */
  readonly advice: string;
}

const row = (
  status: number,
  blame: Blame,
  retryable: boolean,
  rest: readonly [proxyStatus: string | null, title: string, advice: string],
): ErrorRow => ({ status, blame, retryable, proxyStatus: rest[0], title: rest[1], advice: rest[2] });

/** Every code, by name. */
export const errorTable = {
  bad_request: row(400, 'client', false, [
    'http_request_error',
    'The request is malformed or ambiguous.',
    'Mend the request as the detail says.',
  ]),
  auth_required: row(407, 'client', false, [
    'http_request_denied',
    'The gateway wants a client name and password.',
    'Send Proxy-Authorization with the name and password of a configured client.',
  ]),
  login_unchecked: row(503, 'gateway', true, [
    'proxy_internal_error',
    'The login can not be checked now.',
    'Come back after Retry-After; if it stays so, look at the storage: the gateway reads its stored clients there.',
  ]),
  target_refused: row(403, 'client', false, [
    'destination_ip_prohibited',
    'The gateway does not go to this target.',
    'Private, loopback and special addresses need an entry under targets.allow; a client or route may narrow targets further.',
  ]),
  request_timeout: row(408, 'client', true, [
    'http_request_error',
    'The request did not arrive in time.',
    'Send the whole head within timeouts.client_header and keep the body coming.',
  ]),
  header_too_large: row(431, 'client', false, [
    'http_request_error',
    'The request head is larger than the limit.',
    'Send a smaller head, or raise limits.head.',
  ]),
  client_limited: row(429, 'client', true, [
    'connection_limit_reached',
    'This client is at its limit.',
    'Slow down, or raise the limits of the client.',
  ]),
  loop_detected: row(508, 'client', false, [
    'proxy_loop_detected',
    'The request leads back to a gateway it already passed.',
    'Point the request at a target and the upstream at a proxy other than this gateway.',
  ]),
  not_implemented: row(501, 'client', false, [
    'http_request_error',
    'The request uses a feature that the gateway does not have.',
    'Send the request without it, as the detail says.',
  ]),
  no_upstream: row(503, 'gateway', true, [
    'destination_unavailable',
    'No upstream is free for this request.',
    'Add upstreams, widen the filters, or come back after Retry-After.',
  ]),
  session_lost: row(503, 'gateway', false, [
    'destination_unavailable',
    'The exit of this hard session is gone.',
    'Begin a new session, or use a soft one.',
  ]),
  overloaded: row(503, 'gateway', true, [
    'connection_limit_reached',
    'The gateway is at its limit of connections or requests.',
    'Come back after Retry-After, or raise the limit that the detail names.',
  ]),
  local_resources: row(503, 'gateway', true, [
    'proxy_internal_error',
    'The gateway is out of sockets, ports or memory.',
    'Come back after Retry-After; raise ulimit -n or widen the local port range.',
  ]),
  exchange_timeout: row(504, 'gateway', true, [
    'connection_timeout',
    'No attempt succeeded before the deadline of the exchange.',
    'Raise timeouts.exchange or X-Turnpike-Timeout, or look at the upstreams.',
  ]),
  internal_error: row(500, 'gateway', true, [
    'proxy_internal_error',
    'The gateway failed.',
    'Report the request id; the log has the cause.',
  ]),
  upstream_dns: row(502, 'upstream', true, [
    'dns_error',
    'The name of the upstream does not resolve.',
    'Mend the host name in the list of upstreams.',
  ]),
  upstream_refused: row(502, 'upstream', true, [
    'connection_refused',
    'The upstream refused the connection.',
    'Look whether the upstream is up; other upstreams were tried as far as allowed.',
  ]),
  upstream_unreachable: row(502, 'upstream', true, [
    'destination_ip_unroutable',
    'There is no route to the upstream.',
    'Look at the network between gateway and upstream.',
  ]),
  upstream_timeout: row(504, 'upstream', true, [
    'connection_timeout',
    'The upstream did not answer in time.',
    'Raise timeouts.dial or timeouts.first_byte, or drop the upstream.',
  ]),
  upstream_tls: row(502, 'upstream', true, [
    'tls_protocol_error',
    'TLS with the upstream failed.',
    'Look at its certificate, or set tls.ca or tls.verify for it.',
  ]),
  upstream_auth: row(502, 'upstream', false, [
    'http_request_denied',
    'The upstream refused our login.',
    'Mend the user name or password of the upstream.',
  ]),
  upstream_closed: row(502, 'upstream', true, [
    'connection_terminated',
    'The upstream closed the connection before it answered.',
    'Send the request again; requests that are not safe are never repeated by the gateway.',
  ]),
  upstream_protocol: row(502, 'upstream', true, [
    'http_protocol_error',
    'The upstream answered something that is not its protocol.',
    'Look whether the upstream speaks the protocol of its URL.',
  ]),
  upstream_error: row(502, 'upstream', true, [
    'proxy_internal_response',
    'The upstream reported a fault of its own.',
    'Other upstreams were tried as far as allowed; look at this one.',
  ]),
  target_dns: row(502, 'target', false, [
    'dns_error',
    'The name of the target does not resolve.',
    'Check the host name.',
  ]),
  target_unreachable: row(502, 'target', true, [
    'destination_unavailable',
    'The target can not be reached.',
    'The site may be down; come back later.',
  ]),
  target_timeout: row(504, 'target', true, [
    'connection_timeout',
    'The target did not answer in time.',
    'The site may be slow or down; come back later.',
  ]),
  target_failed: row(502, 'target', true, [
    'http_protocol_error',
    'The target failed, or its answer can not be understood.',
    'The detail names the fault; the page itself may be broken.',
  ]),
} satisfies Record<string, ErrorRow>;

/** The name of one kind of error answer. */
export type ErrorCode = keyof typeof errorTable;

/** An error answer: the code, and what was special this time. Never holds a secret. */
export interface Failure {
  readonly code: ErrorCode;
  /** What happened, where the title of the table says less. */
  readonly title?: string;
  /** What exactly was wrong, for the person who reads the answer. */
  readonly detail: string;
  /** For how long it makes no sense to come back, if that is known. */
  readonly retryAfterMs?: number;
  /** Whether it may work later, where that differs from the table. */
  readonly isRetryable?: boolean;
}
