/**
 * The words of other proxies: which of their own error answers say what, by header and status, never by page text.
 * An answer without such a mark is nobody's confession, see `classify.ts`.
 */
import type { ErrorCode } from '../core/errors.js';
import type { TransportFault } from '../facts/ban.js';
import type { AnswerFacts } from './facts.js';

/** What a proxy said about itself or about the target. */
export interface Evidence {
  readonly code: ErrorCode;
  /** What counts against the exit's transport health; null: nothing. */
  readonly health: TransportFault | null;
  /** The mark that was found, in words of ours. */
  readonly mark: string;
}

type Saying = readonly [code: ErrorCode, health: TransportFault | null];

const targetDns: Saying = ['target_dns', null];
const targetUnreachable: Saying = ['target_unreachable', null];
const targetTimeout: Saying = ['target_timeout', null];
const targetFailed: Saying = ['target_failed', null];
const refusesTarget: Saying = ['upstream_error', null];
const upstreamFault: Saying = ['upstream_error', 'error'];
/** The proxy found no way: its own, or the target's; several targets will tell. */
const maybeTargets: Saying = ['upstream_error', 'silent'];
/** Whoever it leads back to: it goes nowhere. */
const leadsBack: Saying = ['loop_detected', 'error'];
const upstreamAuth: Saying = ['upstream_auth', 'auth'];

/** `X-Squid-Error: ERR_DNS_FAIL 0` (Squid's errorpage names). */
const squidErrors: Readonly<Record<string, Saying>> = {
  ERR_DNS_FAIL: targetDns,
  ERR_CONNECT_FAIL: targetUnreachable,
  ERR_READ_TIMEOUT: targetTimeout,
  ERR_LIFETIME_EXP: targetTimeout,
  ERR_GATEWAY_FAILURE: targetFailed,
  ERR_SECURE_CONNECT_FAIL: targetFailed,
  ERR_READ_ERROR: targetFailed,
  ERR_WRITE_ERROR: targetFailed,
  ERR_ZERO_SIZE_OBJECT: targetFailed,
  ERR_INVALID_RESP: targetFailed,
  ERR_CONFLICT_HOST: refusesTarget,
  ERR_ACCESS_DENIED: refusesTarget,
  ERR_FORWARDING_DENIED: refusesTarget,
  ERR_BLOCKED: refusesTarget,
  ERR_TOO_BIG: refusesTarget,
  ERR_INVALID_URL: refusesTarget,
  ERR_INVALID_REQ: refusesTarget,
  ERR_UNSUP_REQ: refusesTarget,
  ERR_PROTOCOL_UNKNOWN: refusesTarget,
  ERR_CACHE_ACCESS_DENIED: upstreamAuth,
  ERR_CANNOT_FORWARD: maybeTargets,
  ERR_SOCKET_FAILURE: upstreamFault,
  ERR_SHUTTING_DOWN: upstreamFault,
  ERR_NO_RELAY: upstreamFault,
};

/** `X-Crawlera-Error: nxdomain` (Zyte's proxies). `banned` is left to the status: it is about the site. */
const crawleraErrors: Readonly<Record<string, Saying>> = {
  nxdomain: targetDns,
  econnrefused: targetUnreachable,
  econnreset: targetFailed,
  send_failed: targetFailed,
  timeout: targetTimeout,
  msgtimeout: targetTimeout,
  domain_forbidden: refusesTarget,
  noslaves: refusesTarget,
  slavebanned: refusesTarget,
  serverbusy: refusesTarget,
  bad_proxy_auth: upstreamAuth,
};

/** `X-BRD-Err-Code: policy_20020` (Bright Data; with status 200 too): whose fault it is stands before the underscore. */
const brightDataErrors: Readonly<Record<string, Saying>> = {
  client: refusesTarget,
  policy: refusesTarget,
  peer: upstreamFault,
  proxy: upstreamFault,
  target: targetFailed,
};

/** `Zyte-Error-Type: /download/temporary-error`: the first part of the path. */
const zyteErrors: Readonly<Record<string, Saying>> = {
  auth: upstreamAuth,
  limits: refusesTarget,
  request: refusesTarget,
  download: refusesTarget,
  internal: upstreamFault,
};

/** Fields of vendors whose mere presence on an error says that it is theirs. */
const vendorFields: readonly string[] = ['x-brd-error', 'x-luminati-error', 'x-proxy-error'];

/** `Proxy-Status: name; error=dns_error` (RFC 9209, section 2.3). What is not named here says nothing about blame. */
const proxyStatusErrors: Readonly<Record<string, Saying>> = {
  dns_error: targetDns,
  dns_timeout: targetTimeout,
  destination_not_found: targetUnreachable,
  destination_unavailable: targetUnreachable,
  destination_ip_unroutable: targetUnreachable,
  connection_refused: targetUnreachable,
  connection_terminated: targetFailed,
  connection_timeout: targetTimeout,
  connection_read_timeout: targetTimeout,
  connection_write_timeout: targetTimeout,
  http_response_timeout: targetTimeout,
  tls_protocol_error: targetFailed,
  tls_certificate_error: targetFailed,
  tls_alert_received: targetFailed,
  http_response_incomplete: targetFailed,
  http_protocol_error: targetFailed,
  http_upgrade_failed: targetFailed,
  destination_ip_prohibited: refusesTarget,
  http_request_denied: refusesTarget,
  http_request_error: refusesTarget,
  connection_limit_reached: refusesTarget,
  proxy_loop_detected: leadsBack,
  proxy_configuration_error: upstreamFault,
  proxy_internal_error: upstreamFault,
  proxy_internal_response: upstreamFault,
};

/** proxy-chain's own codes (its `statuses.js`): no header marks them over plain HTTP. */
const proxyChainStatuses: Readonly<Record<number, Saying>> = {
  590: refusesTarget,
  592: targetFailed,
  593: targetDns,
  594: targetUnreachable,
  595: targetFailed,
  596: targetFailed,
  597: upstreamAuth,
  599: upstreamFault,
};

/** What proxy-chain 3 puts on its pages; earlier ones put none. */
const PROXY_CHAIN_TYPE = 'text/plain; charset=utf-8';

/** tinyproxy, known by `Server: tinyproxy/…` on pages of its own (never on what it forwards). */
const tinyproxyStatuses: Readonly<Record<number, Saying>> = {
  400: refusesTarget,
  // A wrong login, said with the status that is a site's (seen with tinyproxy 1.11.1).
  401: upstreamAuth,
  403: refusesTarget,
  404: upstreamFault,
  408: targetTimeout,
  500: targetUnreachable,
  501: refusesTarget,
  502: refusesTarget,
  503: upstreamFault,
};

/**
 * What a proxy on the way said, if this answer is one of its own.
 * A mark over plain HTTP may be forged by the target, so it never counts against the exit's health there; but for a login
 * that was refused, which a target could say by 407 as well, and which no other exit's answer would ever bring to light.
 */
export function proxyEvidence(answer: AnswerFacts): Evidence | null {
  const told = byBrightData(answer);
  if (told === null && answer.status < 400) return null;
  const evidence =
    told ??
    bySquid(answer) ??
    byCrawlera(answer) ??
    byProxyStatus(answer) ??
    byZyte(answer) ??
    byVendorField(answer) ??
    byTinyproxy(answer) ??
    byProxyChain(answer);
  if (evidence === null || answer.refusedTunnel) return evidence;
  if (evidence.health === null || evidence.health === 'auth') return evidence;
  return { ...evidence, health: null };
}

function bySquid(answer: AnswerFacts): Evidence | null {
  const name = answer.fields.get('x-squid-error')?.trim().split(' ', 1)[0];
  return name === undefined ? null : said(squidErrors, name, `X-Squid-Error ${name}`);
}

function byBrightData(answer: AnswerFacts): Evidence | null {
  const code = answer.fields.get('x-brd-err-code')?.trim();
  if (code === undefined || !/^[a-z]{1,20}_[0-9]{1,6}$/.test(code)) return null;
  return said(brightDataErrors, code.slice(0, code.indexOf('_')), `X-BRD-Err-Code ${code}`);
}

function byZyte(answer: AnswerFacts): Evidence | null {
  const type = answer.fields.get('zyte-error-type')?.trim();
  if (type === undefined || !/^[a-z/-]{1,60}$/.test(type)) return null;
  return said(zyteErrors, type.split('/').find((part) => part !== '') ?? '', `Zyte-Error-Type ${type}`);
}

function byVendorField(answer: AnswerFacts): Evidence | null {
  const name = vendorFields.find((field) => answer.fields.has(field));
  return name === undefined ? null : { code: 'upstream_error', health: null, mark: `a field ${name}` };
}

function byCrawlera(answer: AnswerFacts): Evidence | null {
  const name = answer.fields.get('x-crawlera-error')?.trim().toLowerCase();
  return name === undefined ? null : said(crawleraErrors, name, `X-Crawlera-Error ${name}`);
}

/** The member nearest to us, which is the last one (RFC 9209, section 2). */
function byProxyStatus(answer: AnswerFacts): Evidence | null {
  if (!answer.fields.has('proxy-status')) return null;
  const text = answer.fields.all('proxy-status').join(',');
  const errors = text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/;[ \t]*error=[a-z_]+/g) ?? [];
  const last = errors.at(-1);
  if (last === undefined) return null;
  const name = last.slice(last.indexOf('=') + 1);
  return said(proxyStatusErrors, name, `Proxy-Status error=${name}`);
}

function byTinyproxy(answer: AnswerFacts): Evidence | null {
  if (answer.fields.get('server')?.startsWith('tinyproxy/') !== true) return null;
  return said(tinyproxyStatuses, answer.status, `a page of tinyproxy with status ${answer.status}`);
}

/** Over plain HTTP its page has nothing that a page of a site has: neither server nor cookie, and its own plain type if any. */
function byProxyChain(answer: AnswerFacts): Evidence | null {
  if (answer.status < 590 || answer.status > 599) return null;
  const { fields } = answer;
  const type = fields.get('content-type') ?? PROXY_CHAIN_TYPE;
  const isBare = type === PROXY_CHAIN_TYPE && !fields.has('server') && !fields.has('set-cookie');
  if (!answer.refusedTunnel && !isBare) return null;
  return said(proxyChainStatuses, answer.status, `status ${answer.status} of proxy-chain`);
}

function said(table: Readonly<Record<string, Saying>>, name: string | number, mark: string): Evidence | null {
  const saying = Object.hasOwn(table, name) ? table[name] : undefined;
  return saying === undefined ? null : { code: saying[0], health: saying[1], mark };
}
