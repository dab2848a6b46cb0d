/**
 * Deliver, try again, or fail: one function from facts to a decision (DESIGN 4).
 *
 * Tried again is what may be better elsewhere: as long as nothing was committed, tries and time are left, the budget
 * allows it, and the request may be repeated: not a byte of it was sent, or it is safe and can be replayed.
 */
import type { Failure } from '../core/errors.js';
import type { Verdict } from './classify.js';

/** What the decision goes by. */
export interface RetryFacts {
  readonly verdict: Verdict;
  readonly method: string;
  /** The route lets unsafe methods be repeated. */
  readonly retryUnsafe: boolean;
  readonly requestSent: boolean;
  readonly bodyReplayable: boolean;
  /** This attempt among them: 1 after the first. */
  readonly attemptsMade: number;
  /** Further tries after the first. */
  readonly retriesAllowed: number;
  /** A byte of an answer went to the client. */
  readonly committed: boolean;
  readonly remainingMs: number;
  /** Whether the transport budget has a retry left, see `budget.ts`. */
  readonly transportBudget: boolean;
  readonly session: { readonly mode: 'soft' | 'hard' } | null;
  /** Whether this exit was tried before in this exchange. */
  readonly triedSameExit: boolean;
  /** Status of this answer where it is suspect and its exit a witness for the page (`own-pages.ts`); else null. */
  readonly suspectStatus: number | null;
  /** Whether most exits fail at this site, so that others would too (`site-guard.ts`). */
  readonly isSiteDown: boolean;
  /** Whether the rule behind the verdict is suspended at this site, since it fires on everything. */
  readonly isSuspended: boolean;
  /** The same of the last such answer through another exit. */
  readonly previousSuspectStatus: number | null;
}

/** Which budget a retry is charged to. */
export type RetryBudget = 'transport' | 'block';

export type RetryDecision =
  /** Pass the answer on. `isPageOwn`: two exits got it, so it is the page's and no suspect of this exchange counts. */
  | { readonly kind: 'deliver'; readonly isPageOwn: boolean }
  | { readonly kind: 'retry'; readonly where: 'same' | 'elsewhere'; readonly budget: RetryBudget }
  | { readonly kind: 'fail'; readonly failure: Failure };

/** With less time left another try is not worth its traffic. */
export const MIN_REMAINING_MS = 250;

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether a method only looks (RFC 9110, section 9.2.1), TRACE aside. */
export function isSafe(method: string): boolean {
  return SAFE.has(method);
}

const deliver: RetryDecision = { kind: 'deliver', isPageOwn: false };
const retrySame: RetryDecision = { kind: 'retry', where: 'same', budget: 'transport' };
const retryElsewhere: RetryDecision = { kind: 'retry', where: 'elsewhere', budget: 'transport' };
const retryBlocked: RetryDecision = { kind: 'retry', where: 'elsewhere', budget: 'block' };

/** Decides what follows an attempt. A retry is a wish: where no exit is free for it, {@link endWith} says what to do. */
export function decideRetry(facts: RetryFacts): RetryDecision {
  const { verdict } = facts;
  if (verdict.name === 'ok') return deliver;
  if (facts.isSuspended) return { kind: 'deliver', isPageOwn: true };
  if (
    verdict.name === 'suspect' &&
    facts.suspectStatus !== null &&
    facts.suspectStatus === facts.previousSuspectStatus
  ) {
    return { kind: 'deliver', isPageOwn: true };
  }
  const where = whereTo(facts);
  const budget = budgetOf(verdict);
  const isAllowed =
    where !== null &&
    !facts.committed &&
    !facts.isSiteDown &&
    facts.attemptsMade <= facts.retriesAllowed &&
    facts.remainingMs >= MIN_REMAINING_MS &&
    isRepeatable(facts) &&
    (budget === 'block' || facts.transportBudget);
  if (!isAllowed) return endWith(verdict);
  if (budget === 'block') return retryBlocked;
  return where === 'same' ? retrySame : retryElsewhere;
}

/**
 * Where another try would make sense; null: nowhere. A session stays on its exit for one more try, unless the exit is
 * out at once (refused dial or login) or the site refuses it; a hard session never goes elsewhere.
 */
function whereTo(facts: RetryFacts): 'same' | 'elsewhere' | null {
  const { verdict, session } = facts;
  if (!isCurable(verdict) || !mayBeRetried(verdict)) return null;
  const isLost = verdict.health === 'refused' || verdict.health === 'auth';
  const mayStay = budgetOf(verdict) === 'transport' && !isLost && !facts.triedSameExit;
  if (session !== null && mayStay) return 'same';
  return session?.mode === 'hard' ? null : 'elsewhere';
}

/** Whether another try could end better. Our own faults, a deadline and a name that doesn't exist stay what they are. */
function isCurable(verdict: Verdict): boolean {
  switch (verdict.name) {
    case 'ok':
    case 'client_gone':
    case 'local_fault':
      return false;
    case 'blocked':
    case 'suspect':
    case 'throttled':
    case 'upstream_failed':
      return true;
    case 'target_failed':
      return !isFinal(verdict.failure);
    case 'unclear':
      return verdict.failure?.code !== 'exchange_timeout';
  }
}

/** A rule may say that the answer is not to be tried elsewhere. */
function mayBeRetried({ rule }: Verdict): boolean {
  return rule === null || rule.actions.includes('retry') || rule.actions.includes('retry_only');
}

/** A name that does not exist, or a place that may not be visited, is the same by any exit. */
function isFinal(failure: Failure | null): boolean {
  if (failure === null || failure.isRetryable === true) return false;
  return (
    failure.code === 'target_dns' || failure.code === 'target_refused' || failure.code === 'loop_detected'
  );
}

function budgetOf(verdict: Verdict): RetryBudget {
  const isBlock = verdict.name === 'blocked' || verdict.name === 'suspect' || verdict.name === 'throttled';
  return isBlock ? 'block' : 'transport';
}

/** RFC 9110, section 9.2.2: a proxy must not repeat what is not idempotent; we repeat only what is safe. */
function isRepeatable(facts: RetryFacts): boolean {
  if (!facts.requestSent) return true;
  return (SAFE.has(facts.method) || facts.retryUnsafe) && facts.bodyReplayable;
}

/** What the client gets when this verdict is the last: the answer, or the failure. */
export function endWith(verdict: Verdict): RetryDecision {
  if (verdict.failure !== null) return { kind: 'fail', failure: verdict.failure };
  if (verdict.name !== 'client_gone') return deliver;
  return { kind: 'fail', failure: { code: 'request_timeout', detail: 'the client left' } };
}

/** What becomes of the suspect answers of an exchange, once it is over. */
export type SuspectsMean = 'ban_now' | 'count' | 'nothing';

/**
 * Reads the end of an exchange back to the exits whose answers were suspect:
 * another exit got a good page for the same URL, so they are blocked; two exits got the same answer, so it is
 * the page's own; or nobody knows, and they are counted.
 */
export function judgeSuspects(end: {
  readonly verdict: Verdict;
  readonly isPageOwn: boolean;
  /** Whether the last attempt went through another exit than the suspect one. */
  readonly isOtherExit: boolean;
}): SuspectsMean {
  if (end.isPageOwn) return 'nothing';
  return end.verdict.name === 'ok' && end.isOtherExit ? 'ban_now' : 'count';
}
