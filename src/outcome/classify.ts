/**
 * What an attempt proved, and about whom: from facts to a verdict. It does not know what will be done about it
 * (`retry.ts`), nor what was tried before.
 */
import { errorTable } from '../core/errors.js';
import type { Blame, ErrorCode, Failure } from '../core/errors.js';
import type { TransportFault } from '../facts/ban.js';
import type { AnswerFacts, AttemptFacts, FaultFacts, FaultKind, Phase, VerdictName } from './facts.js';
import type { RuleFinding } from './finding.js';
import { proxyEvidence } from './proxy-pages.js';
import type { Evidence } from './proxy-pages.js';
import { retryAfterMs } from './retry-after.js';

/** How refused by status alone is read; the same as `StatusEvidence` of a route. */
export interface StatusLists {
  readonly suspect: readonly number[];
  readonly throttled: readonly number[];
  readonly unclear: readonly number[];
}

/** What the verdict depends on besides the facts. */
export interface ClassifyContext {
  readonly statuses: StatusLists;
  /** False: whatever the target says is good. */
  readonly detect: boolean;
  readonly upstreamHasLogin: boolean;
  /** The rule that decided about this attempt; null where none did. */
  readonly finding: RuleFinding | null;
}

/** What an attempt proved. */
export interface Verdict {
  readonly name: VerdictName;
  /** Null where nobody is at fault, or nobody can be named. */
  readonly blame: Blame | null;
  /** Fault kind, status or mark, for logs. */
  readonly reason: string;
  /** What the client gets if this is the end; null where there is an answer to deliver. */
  readonly failure: Failure | null;
  readonly retryAfterMs: number | null;
  /** What counts against the exit's transport health (`Ledger.recordTransportFailure`); null: nothing. */
  readonly health: TransportFault | null;
  /**
   * The rule behind it, with the actions that it asks for; null where status or fault alone decided. `blocked` comes
   * from a rule only. Without `retry` or `retry_only` among the actions the answer is not tried elsewhere.
   */
  readonly rule: RuleFinding | null;
}

const ok: Verdict = {
  name: 'ok',
  blame: null,
  reason: 'ok',
  failure: null,
  retryAfterMs: null,
  health: null,
  rule: null,
};

/** How long a client should stay away when we are out of sockets. */
const LOCAL_RETRY_MS = 1000;

/** Faults on the way, by kind. */
const faultVerdicts: Readonly<
  Record<Exclude<FaultKind, 'client_gone'>, readonly [VerdictName, ErrorCode, TransportFault | null]>
> = {
  refused: ['upstream_failed', 'upstream_refused', 'refused'],
  unreachable: ['upstream_failed', 'upstream_unreachable', 'unreachable'],
  timeout: ['upstream_failed', 'upstream_timeout', 'timeout'],
  dns: ['upstream_failed', 'upstream_dns', 'dns'],
  tls: ['upstream_failed', 'upstream_tls', 'tls'],
  auth: ['upstream_failed', 'upstream_auth', 'auth'],
  closed: ['upstream_failed', 'upstream_closed', 'closed'],
  reset: ['upstream_failed', 'upstream_closed', 'reset'],
  protocol: ['upstream_failed', 'upstream_protocol', 'protocol'],
  failed: ['unclear', 'upstream_error', 'unclear'],
  denied: ['unclear', 'upstream_error', null],
  unsupported: ['unclear', 'upstream_error', null],
  loop: ['upstream_failed', 'loop_detected', 'refused'],
  local: ['local_fault', 'local_resources', null],
  deadline: ['unclear', 'exchange_timeout', null],
  target_dns: ['target_failed', 'target_dns', null],
  target_dns_busy: ['target_failed', 'target_dns', null],
  target_forbidden: ['target_failed', 'target_refused', null],
  target_loop: ['target_failed', 'loop_detected', null],
  target_unreachable: ['target_failed', 'target_unreachable', null],
  target_timeout: ['target_failed', 'target_timeout', null],
  target_malformed: ['target_failed', 'target_failed', null],
};

const SILENCES: ReadonlySet<FaultKind> = new Set(['timeout', 'closed', 'reset']);
/** Until here the upstream speaks for itself alone. */
const BEFORE_TARGET: ReadonlySet<Phase> = new Set(['dial', 'tls', 'greeting']);

/** Judges one attempt. */
export function classify(facts: AttemptFacts, context: ClassifyContext): Verdict {
  const { finding } = context;
  if (finding === null || !context.detect) return judge(facts, context);
  return ruled(judge(facts, context), finding, facts);
}

/**
 * A rule overrules what status alone would say; a proxy's own confession stands, since it is not the site that spoke.
 * `throttle` alone reads as `throttled`, `deliver` alone as `ok`, everything else as `blocked`.
 */
function ruled(usual: Verdict, finding: RuleFinding, facts: AttemptFacts): Verdict {
  const { actions, name } = finding;
  const isConfession = facts.kind === 'answer' && usual.failure !== null;
  const isPersonal = usual.name === 'client_gone' || usual.name === 'local_fault';
  if (facts.kind === 'tunnel' || isConfession || isPersonal) return usual;
  const only = actions.length === 1 ? actions[0] : null;
  const reason = `rule ${name}`;
  if (only === 'deliver') return usual.failure === null ? { ...ok, reason, rule: finding } : usual;
  const asked = facts.kind === 'answer' ? retryAfterMs(facts.fields, facts.receivedWallMs ?? null) : null;
  const verdict = only === 'throttle' ? 'throttled' : 'blocked';
  return {
    ...usual,
    name: verdict,
    blame: 'target',
    reason,
    retryAfterMs: asked,
    health: null,
    rule: finding,
  };
}

function judge(facts: AttemptFacts, context: ClassifyContext): Verdict {
  switch (facts.kind) {
    case 'tunnel':
      return ok;
    case 'fault':
      return judgeFault(facts);
    case 'answer':
      return facts.refusedTunnel ? judgeRefusal(facts, context) : judgeAnswer(facts, context);
  }
}

function judgeFault(facts: FaultFacts): Verdict {
  if (facts.fault === 'client_gone') {
    return { ...ok, name: 'client_gone', blame: 'client', reason: 'client_gone' };
  }
  const [name, code, usual] = faultVerdicts[facts.fault];
  // Once the dial stands, silence may be the target's as well as the exit's; some proxies say nothing and close.
  const isSilence = !BEFORE_TARGET.has(facts.phase) && SILENCES.has(facts.fault);
  const health = isSilence ? 'silent' : usual;
  const sent = facts.requestSent ? 'the request was sent' : 'nothing of the request was sent';
  const detail = `${facts.detail} (${sent})`;
  const verdict = failed(name, code, { reason: facts.fault, detail });
  if (facts.fault === 'target_dns_busy' && verdict.failure !== null)
    return { ...verdict, failure: { ...verdict.failure, isRetryable: true } };
  if (facts.fault !== 'local' || verdict.failure === null) return { ...verdict, health };
  return {
    ...verdict,
    failure: { ...verdict.failure, retryAfterMs: LOCAL_RETRY_MS },
    retryAfterMs: LOCAL_RETRY_MS,
  };
}

/** A CONNECT that was refused: whatever it says is the upstream's own word, and never goes to the client. */
function judgeRefusal(answer: AnswerFacts, context: ClassifyContext): Verdict {
  // tinyproxy says 401 where 407 is meant; in answer to CONNECT it can be nobody else's.
  if (answer.status === 407 || answer.status === 401) return loginRefused(context, 'auth');
  const evidence = proxyEvidence(answer);
  if (evidence !== null) return confessed(evidence);
  const { status } = answer;
  const isForbidden = status === 403;
  const detail = isForbidden
    ? 'the upstream does not go to this target (403 to CONNECT)'
    : `the upstream answered CONNECT with status ${status}`;
  const verdict = failed('unclear', 'upstream_error', { reason: `connect_${status}`, detail });
  return isForbidden ? verdict : { ...verdict, health: 'unclear' };
}

/** An answer over plain HTTP: the target's, unless it bears the mark of a proxy. */
function judgeAnswer(answer: AnswerFacts, context: ClassifyContext): Verdict {
  const { status, fields } = answer;
  if (answer.isTargets === true) return judgeTargets(answer, context);
  if (status === 407) {
    // Without a challenge it is no proxy's 407 (RFC 9110, section 15.5.8); whose it is then, other exits will show.
    if (fields.has('proxy-authenticate')) return loginRefused(context, 'auth');
    return { ...loginRefused(context, null), name: 'unclear' };
  }
  const evidence = proxyEvidence(answer);
  if (evidence !== null) return confessed(evidence);
  return context.detect ? judgeStatus(answer, context.statuses) : ok;
}

/** An answer through SOCKS or without a proxy: nobody but the target can have given it, so it is no sign against the way. */
function judgeTargets(answer: AnswerFacts, context: ClassifyContext): Verdict {
  if (answer.status === 407) {
    const detail = 'the target itself answered 407, which only a proxy may';
    return failed('target_failed', 'target_failed', { reason: 'status_407', detail });
  }
  return context.detect ? { ...judgeStatus(answer, context.statuses), health: null } : ok;
}

function judgeStatus(answer: AnswerFacts, lists: StatusLists): Verdict {
  const { status } = answer;
  const reason = `status_${status}`;
  if (isOriginDown(answer)) return { ...ok, name: 'target_failed', blame: 'target', reason };
  const waitMs =
    status === 429 || status >= 500 ? retryAfterMs(answer.fields, answer.receivedWallMs ?? null) : null;
  const isServerError = status >= 500;
  if (isServerError ? waitMs !== null && isListed(lists, status) : lists.throttled.includes(status)) {
    return { ...ok, name: 'throttled', blame: 'target', reason, retryAfterMs: waitMs };
  }
  if (lists.suspect.includes(status)) return { ...ok, name: 'suspect', reason };
  const isGatewayError = status === 502 || status === 503 || status === 504;
  if (isGatewayError || lists.unclear.includes(status) || lists.throttled.includes(status)) {
    return { ...ok, name: 'unclear', reason, health: 'unclear' };
  }
  return ok;
}

/** Cloudflare's words for an origin that it can't reach: nobody's exit is at fault, and there is a page to deliver. */
function isOriginDown({ status, fields }: AnswerFacts): boolean {
  if (status < 521 || status > 526) return false;
  return fields.has('cf-ray') || fields.get('server')?.toLowerCase() === 'cloudflare';
}

/** A 5xx with Retry-After is a site that asks for less, if the route reads this status at all. */
function isListed(lists: StatusLists, status: number): boolean {
  return lists.throttled.includes(status) || (status === 503 && lists.unclear.includes(status));
}

function loginRefused(context: ClassifyContext, health: TransportFault | null): Verdict {
  const detail = context.upstreamHasLogin
    ? 'the upstream refused the configured login (407)'
    : 'the upstream wants a login and none is configured (407)';
  return { ...failed('upstream_failed', 'upstream_auth', { reason: 'auth', detail }), health };
}

function confessed(evidence: Evidence): Verdict {
  const isTargets = errorTable[evidence.code].blame === 'target';
  const name = isTargets ? 'target_failed' : evidence.health === null ? 'unclear' : 'upstream_failed';
  const detail = isTargets
    ? `the upstream reports: ${evidence.mark}`
    : `the upstream reports a fault of its own: ${evidence.mark}`;
  return { ...failed(name, evidence.code, { reason: evidence.mark, detail }), health: evidence.health };
}

function failed(name: VerdictName, code: ErrorCode, text: { reason: string; detail: string }): Verdict {
  const failure: Failure = { code, detail: text.detail };
  return {
    name,
    blame: errorTable[code].blame,
    reason: text.reason,
    failure,
    retryAfterMs: null,
    health: null,
    rule: null,
  };
}
