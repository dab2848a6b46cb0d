/** Events for tests, complete and plausible; each test changes what it is about. */
import type { AttemptEnded, ExchangeEnded, TurnpikeEvent } from '../../src/core/events.js';

/** An exchange that went well. */
export function exchange(changes: Partial<ExchangeEnded> = {}): ExchangeEnded {
  return {
    type: 'exchange_ended',
    requestId: 'g1-0000-abc',
    kind: 'forward',
    listener: '127.0.0.1:8080',
    client: 'crawler',
    clientAddress: '127.0.0.1',
    method: 'GET',
    target: 'www.shop.example:80',
    site: 'shop.example',
    path: '/catalogue',
    route: 'route-0',
    pool: 'default',
    poolWhy: null,
    upstream: 'abcdefghijkl',
    upstreamLabel: 'http://10.0.0.9:3128',
    session: 'tab-1',
    generation: 1,
    status: 200,
    code: null,
    blame: null,
    verdict: 'ok',
    attempts: 1,
    bytesIn: 10,
    bytesOut: 1024,
    end: 'complete',
    times: { totalMs: 12.34567, firstByteMs: 11, openMs: 0 },
    ...changes,
  };
}

/** A try that went well. */
export function attempt(changes: Partial<AttemptEnded> = {}): AttemptEnded {
  return {
    type: 'attempt_ended',
    requestId: 'g1-0000-abc',
    pool: 'default',
    upstream: 'abcdefghijkl',
    upstreamLabel: 'http://10.0.0.9:3128',
    site: 'shop.example',
    attempt: 1,
    verdict: 'ok',
    reason: '200',
    retried: false,
    ...changes,
  };
}

/** One of each other kind. */
export const others: readonly TurnpikeEvent[] = [
  {
    type: 'exit_banned',
    upstream: 'abcdefghijkl',
    upstreamLabel: 'http://10.0.0.9:3128',
    site: 'shop.example',
    reason: '403',
    strikes: 1,
    forMs: 3_600_000.4,
  },
  {
    type: 'exit_banned',
    upstream: 'b',
    upstreamLabel: 'http://h:1',
    site: null,
    reason: 'refused',
    strikes: 2,
    forMs: 1,
  },
  {
    type: 'rule_matched',
    requestId: 'g1-0000-abc',
    upstream: 'b',
    site: 'shop.example',
    rule: 'robot-check',
    shadow: false,
    field: 'body',
    found: 'captcha-zxq',
  },
  {
    type: 'body_not_inspected',
    requestId: 'g1-0000-abc',
    upstream: 'b',
    site: 'shop.example',
    reason: 'swells',
  },
  {
    type: 'session_pinned',
    client: 'crawler',
    session: 's',
    upstream: 'b',
    generation: 2,
    reason: 'exit_failed',
  },
  { type: 'client_connected', listener: '127.0.0.1:8080' },
  { type: 'client_connected', listener: '127.0.0.1:8080' },
  { type: 'client_disconnected', listener: '127.0.0.1:8080' },
  {
    type: 'connection_refused',
    listener: '127.0.0.1:8080',
    clientAddress: '10.0.0.1',
    reason: 'tls_hello',
    detail: 'a TLS hello on a plain port',
  },
  { type: 'upstream_connection', what: 'opened' },
  {
    type: 'note',
    level: 'warn',
    what: 'bad_upstream',
    detail: { pool: 'default', line: 3, isBad: true, nothing: null },
  },
];
