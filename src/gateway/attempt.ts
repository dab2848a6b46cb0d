/**
 * The one loop: choose an exit, try, judge, decide; deliver, try elsewhere, or say what was wrong.
 * Plain requests, tunnels and (later) intercepted requests all go through here; how one try is made is the carrier's.
 */
import type { Failure } from '../core/errors.js';
import type { ExchangeEnded } from '../core/events.js';
import type { Fault } from '../core/fault.js';
import type { Fields } from '../http1/fields.js';
import type { Visit } from '../exits/pool-at-site.js';
import type { Abandonment } from '../open/dial.js';
import type { Verdict } from '../outcome/classify.js';
import type { AttemptFacts } from '../outcome/facts.js';
import type { RuleFinding } from '../outcome/finding.js';
import { decideRetry, endWith, type RetryDecision } from '../outcome/retry.js';
import { Neighbours } from '../upstreams/neighbours.js';
import type { TunnelEnd } from '../outcome/tunnel-signs.js';
import { isEndDue, judge, noteBegun, recordEnd } from './answer-end.js';
import { serveGuarded } from './canary.js';
import type { ClientExchange } from './exchange.js';
import { claim, claimOne, takenFirst } from './claim.js';
import { begin, type Course } from './course.js';
import { HeldAnswer, type JudgedTry } from './held-answer.js';
import { claimed, claimedFirst, mustClaim } from './fleet-turn.js';
import { lineOf, pickAtOnce, type Exit } from './pick-exit.js';
import { pickAnother } from './pick-in-turn.js';
import { isSuspended, learnOf, recordTry, settleSuspects, tellTry } from './record.js';
import { appendMaking, refuse } from './respond.js';
import type { GatewayServices } from './services.js';
import { isReached, settleSilences } from './silences.js';
import { chargeTry } from './tiers.js';
import type { Trace } from './trace.js';
import type { Ask } from './understand.js';

/** How a delivered answer ended, with the bytes that went through. */
export interface Delivery {
  readonly end: ExchangeEnded['end'];
  readonly bytes?: { readonly in: number; readonly out: number };
  /** What a tunnel showed of itself. */
  readonly tunnel?: TunnelEnd;
  /** What cut the body of an answer. */
  readonly fault?: Fault;
}

/** What one try brought, not yet shown to the client. */
export interface Try {
  readonly facts: AttemptFacts;
  /** Dial, TLS and handshake; 0 on a kept connection. */
  readonly openMs: number;
  /** The rule that decided about the answer, if one did. */
  readonly finding?: RuleFinding | null;
  /** Hears what the answer was judged to be, to store it; absent where nothing is stored. */
  readonly judged?: ((verdict: Verdict) => void) | null;
  /** Gives the answer to the client; `tellMore` adds our fields to its own. Resolves when the exchange is over. */
  deliver(tellMore: (fields: Fields) => void): Promise<Delivery>;
  /** Nobody will see this answer. */
  discard(): void;
}

/** Makes tries: `forward.ts` for plain requests, `tunnel.ts` for CONNECT. */
export interface Carrier {
  /** One try through one exit, in at most `remainingMs`. Never rejects. */
  attempt(
    exit: Exit,
    tryOptions: { readonly abandonment: Abandonment; readonly remainingMs: number },
  ): Promise<Try>;
  /** Whether the request can be sent again from byte 0. */
  isReplayable(): boolean;
}

/** One exchange on its way. */
export interface Job {
  readonly exchange: ClientExchange;
  readonly ask: Ask;
  readonly trace: Trace;
  readonly carrier: Carrier;
}

/** Serves one request to its end. Never rejects for anything the network does. */
export function runAttempts(services: GatewayServices, job: Job): Promise<void> {
  const { site } = job.ask.context.target;
  const admission = services.siteGuard.admit(site, job.exchange.startedMs);
  if (admission.kind === 'open') return attemptEach(services, job, begin(services, job));
  return serveGuarded(services, job, admission, () => attemptEach(services, job, begin(services, job)));
}

async function attemptEach(services: GatewayServices, job: Job, course: Course): Promise<void> {
  const atOnce = job.ask.route.onExhausted === 'wait' ? null : pickAtOnce(services, job, course);
  let first = claim(services, atOnce) ?? (await takenFirst(services, job, course));
  if (first.kind === 'exit' && mustClaim(services, job, first))
    first = await claimedFirst(services, job, course, first);
  if (first.kind === 'none') {
    if (course.abandonment.isAbandoned) leave(services, job);
    else refuse(services, job.exchange, job.trace, first.failure);
    return;
  }
  try {
    let exit: Exit | null = first;
    while (exit !== null && !course.abandonment.isAbandoned) exit = await turn(services, job, course, exit);
    if (exit !== null) leave(services, job, exit);
  } finally {
    course.claim?.drop();
    course.held?.discard();
    settleSilences(services, job, course, false);
  }
}

/** One try, for as long as which the exit counts as in use. */
async function turn(services: GatewayServices, job: Job, course: Course, exit: Exit): Promise<Exit | null> {
  const { site } = job.ask.context.target;
  const startedMs = services.clock.nowMs();
  services.ledger.begin(exit.slot, site, startedMs);
  const turnClaim = course.claim;
  course.claim = null;
  const visit = turnClaim?.visit ?? services.paces.begin(exit.pool, exit.slot, { site, nowMs: startedMs });
  const { lease } = exit;
  chargeTry(services, job, exit.pool.name);
  try {
    return await tryThrough(services, job, course, { exit, startedMs, visit });
  } finally {
    const endMs = services.clock.nowMs();
    services.shares.end(lease);
    visit.end(endMs);
    services.ledger.end(exit.slot, site, endMs);
    turnClaim?.end();
    if (services.waiting.size > 0) services.waiting.freed(lineOf(job));
  }
}

/** The client is gone, and nobody hears an answer. */
function leave(services: GatewayServices, job: Job, untried?: Exit): void {
  if (untried !== undefined) services.shares.end(untried.lease);
  job.trace.verdict = 'client_gone';
  job.trace.finish(services.emit, services.clock.nowMs(), 'client_gone');
}

/** Tries, judges and decides; delivers or fails where no other try follows. */
async function tryThrough(
  services: GatewayServices,
  job: Job,
  course: Course,
  turn: { readonly exit: Exit; readonly startedMs: number; readonly visit: Visit },
): Promise<Exit | null> {
  const { trace, carrier } = job;
  const { exit, startedMs } = turn;
  trace.attempts++;
  trace.pool = exit.pool.name;
  trace.upstream = exit.upstream;
  const remainingMs = course.deadlineMs - startedMs;
  const made = await carrier.attempt(exit, { abandonment: course.abandonment, remainingMs });
  const nowMs = services.clock.nowMs();
  turn.visit.answered(nowMs);
  trace.openMs = made.openMs;
  const facts = nowMs < course.deadlineMs ? made.facts : outOfTime(made.facts);
  const verdict = judge(job, exit, facts, made.finding ?? null);
  trace.verdict = verdict.name;
  made.judged?.(verdict);
  const isRetried = exit.upstream.id === course.again?.upstream.id;
  const { visit } = turn;
  const tookMs = nowMs - startedMs;
  let isSetAside = false;
  const isEnded = !isEndDue(verdict, facts);
  if (isEnded) isSetAside = recordTry(services, job, exit, { verdict, facts, tookMs });
  else noteBegun(services, job, exit.slot);
  const suspectStatus = statusOfSuspect(verdict, facts);
  const { site } = job.ask.context.target;
  const isWitness = suspectStatus !== null && services.ownPages.suspect(site, exit.slot);
  const witnessed = isWitness ? suspectStatus : null;
  const wanted = decide(services, job, course, { verdict, facts, nowMs, isRetried, witnessed });
  if (isEnded) learnOf(services, job, { exit, visit, verdict, facts, tookMs });
  if (verdict.health === 'silent') course.silences = [...course.silences, { exit, verdict }];
  if (suspectStatus !== null) course.suspects = [...course.suspects, { exit, visit, status: suspectStatus }];
  const next =
    wanted.kind === 'retry' ? await nextExit(services, job, course, { exit, wanted, isSetAside }) : null;
  const decision = wanted.kind === 'retry' && next === null ? endWith(verdict) : wanted;
  tellTry(services, job, exit, { verdict, decision });
  if (next !== null) {
    (course.held ??= new HeldAnswer()).keep({ made, verdict, exit, visit, tookMs });
    course.previousSuspectStatus = witnessed ?? course.previousSuspectStatus;
    return next;
  }
  const isPageOwn = decision.kind === 'deliver' && decision.isPageOwn;
  settleSilences(services, job, course, isReached(verdict, facts));
  settleSuspects(services, job, course.suspects, { verdict, isPageOwn, exit });
  await settle(services, job, course, { made, verdict, exit, visit, tookMs, decision });
  return null;
}

/** The end: the best answer that there is, or what was wrong. */
async function settle(
  services: GatewayServices,
  job: Job,
  course: Course,
  last: JudgedTry & { readonly decision: RetryDecision },
): Promise<void> {
  const isOver = last.verdict.name === 'client_gone' || job.exchange.bodyFault !== null;
  const better = isOver ? null : (course.held?.better(last) ?? null);
  if (better !== null) {
    job.trace.verdict = better.verdict.name;
    job.trace.pool = better.exit.pool.name;
    job.trace.upstream = better.exit.upstream;
    await deliver(services, job, course, better);
  } else if (last.decision.kind === 'fail') fail(services, job, last.made, last.decision.failure);
  else await deliver(services, job, course, last);
}

/** A try that was ended by the deadline of the exchange says nothing about the exit: it did not get its own time. */
function outOfTime(facts: AttemptFacts): AttemptFacts {
  return facts.kind === 'fault' && facts.fault === 'timeout' ? { ...facts, fault: 'deadline' } : facts;
}

/** For another try the same exit, or another that is free now. Null: what the last try brought is better than a wait. */
async function nextExit(
  services: GatewayServices,
  job: Job,
  course: Course,
  after: { exit: Exit; wanted: RetryDecision & { kind: 'retry' }; isSetAside: boolean },
): Promise<Exit | null> {
  const { exit, wanted, isSetAside } = after;
  course.again = wanted.where === 'same' && !isSetAside ? claim(services, exit) : null;
  if (course.again !== null) return exit;
  course.avoid = new Set([...course.avoid, exit.upstream.id]);
  (course.neighbours ??= new Neighbours()).add(exit.upstream);
  const again = (): Promise<Exit | null> =>
    claimOne(services, () => pickAnother(services, job, course), null);
  const next = await again();
  if (next === null || !mustClaim(services, job, next)) return next;
  return claimed(services, job, course, { exit: next, none: null, again });
}

function decide(
  services: GatewayServices,
  job: Job,
  course: Course,
  now: { verdict: Verdict; facts: AttemptFacts; nowMs: number; isRetried: boolean; witnessed: number | null },
): RetryDecision {
  const { facts } = now;
  return decideRetry({
    verdict: now.verdict,
    method: job.ask.context.method,
    retryUnsafe: job.ask.route.retryUnsafe,
    requestSent: facts.kind === 'tunnel' ? false : facts.requestSent,
    bodyReplayable: job.carrier.isReplayable(),
    attemptsMade: job.trace.attempts,
    retriesAllowed: course.retriesAllowed,
    committed: job.exchange.isCommitted,
    remainingMs: course.deadlineMs - now.nowMs,
    transportBudget: services.transportBudget.allows(now.nowMs),
    session: job.ask.context.controls.session,
    triedSameExit: now.isRetried,
    isSiteDown: services.siteGuard.isDown(job.ask.context.target.site),
    isSuspended: isSuspended(services, job, now.verdict),
    previousSuspectStatus: course.previousSuspectStatus,
    suspectStatus: now.witnessed,
  });
}

function statusOfSuspect(verdict: Verdict, facts: AttemptFacts): number | null {
  return verdict.name === 'suspect' && facts.kind === 'answer' ? facts.status : null;
}

async function deliver(services: GatewayServices, job: Job, course: Course, last: JudgedTry): Promise<void> {
  const { trace, ask } = job;
  const { made } = last;
  if (course.abandonment.isAbandoned) {
    made.discard();
    leave(services, job);
    return;
  }
  const { controls, client, target, requestId } = ask.context;
  const { explain } = controls;
  if (ask.route.expose !== 'none' && trace.upstream !== null) {
    const about = { request: requestId, exit: trace.upstream.id, site: target.site };
    trace.receipt = services.receipts.write(about, client, services.clock.wallMs());
  }
  const delivery = await made.deliver((fields) => appendMaking(fields, trace, ask.route.expose, explain));
  const cut = recordEnd(services, job, last, delivery);
  if (cut !== null && cut.failure !== null && !job.exchange.isCommitted) {
    // Its head still waited, so that the client can be told what was wrong.
    trace.verdict = cut.name;
    fail(services, job, made, cut.failure);
  } else trace.finish(services.emit, services.clock.nowMs(), delivery.end, delivery.bytes);
}

function fail(services: GatewayServices, job: Job, made: Try, failure: Failure): void {
  made.discard();
  const { exchange, trace } = job;
  const own = bodyFailure(exchange);
  const isGone = own === null && trace.verdict === 'client_gone';
  if (isGone) trace.finish(services.emit, services.clock.nowMs(), 'client_gone');
  else refuse(services, exchange, trace, own ?? failure);
}

/** A body that the client itself cut or garbled is the client's fault, whatever it looked like further on. */
function bodyFailure(exchange: ClientExchange): Failure | null {
  const fault = exchange.bodyFault;
  if (fault === null || fault.kind === 'gone' || fault.kind === 'closed') return null;
  if (fault.kind === 'timeout') return { code: 'request_timeout', detail: fault.detail };
  return { code: fault.kind === 'too_large' ? 'header_too_large' : 'bad_request', detail: fault.detail };
}
