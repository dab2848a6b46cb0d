/** Writes down what tries proved: in the ledger, with the site guard, and as events. */
import type { Effect } from '../exits/effect.js';
import type { Said, Visit } from '../exits/pool-at-site.js';
import type { Verdict } from '../outcome/classify.js';
import type { AttemptFacts } from '../outcome/facts.js';
import { judgeSuspects, type RetryDecision } from '../outcome/retry.js';
import type { Job } from './attempt.js';
import { evidenceOf, plainEvidence } from './ban-evidence.js';
import { banReported } from './feedback.js';
import { showSite, sightingOf } from './guard-site.js';
import type { Exit } from './pick-exit.js';
import { effectOfRule } from './record-rule.js';
import type { GatewayServices } from './services.js';
import { tellOfBan } from './tell-of-ban.js';
import { recordTier } from './tiers.js';

/** The end of a try. */
export interface Judged {
  readonly verdict: Verdict;
  readonly facts: AttemptFacts;
  readonly tookMs: number;
}

/** An answer that may be a block, by its status alone. */
export interface Suspect {
  readonly exit: Exit;
  readonly visit: Visit;
  readonly status: number;
}

const NONE: Effect = { kind: 'none' };

/** What the answer says of the pace, the odds and the tier; suspect ones wait for {@link settleSuspects}. */
export function learnOf(
  services: GatewayServices,
  job: Job,
  seen: { exit: Exit; visit: Visit; verdict: Verdict; facts: AttemptFacts; tookMs: number },
): void {
  const { facts, verdict } = seen;
  // While the site is down or the rule fires on everything, nothing is held against an exit.
  if (services.siteGuard.isDown(job.ask.context.target.site) || isSuspended(services, job, verdict)) return;
  const said = saidBy(verdict, facts.kind === 'answer' && !facts.refusedTunnel);
  if (said !== null) seen.visit.learn(said, seen.tookMs, services.clock.nowMs());
  if (said === 'good') services.ownPages.good(job.ask.context.target.site, seen.exit.slot);
  const isBlocked = said === 'refused' || verdict.name === 'suspect';
  if (said === 'good' || isBlocked) recordTier(services, job, seen.exit.pool.name, isBlocked);
}

/** A suspect answer was a refusal, unless the site refuses everybody. */
function learnOfSuspect(services: GatewayServices, job: Job, { visit, status }: Suspect): void {
  const { site } = job.ask.context.target;
  const nowMs = services.clock.nowMs();
  const { siteGuard } = services;
  if (siteGuard.isDown(site) || siteGuard.isSuspended(site, `status_${status}`, nowMs)) return;
  visit.learn('refused', null, nowMs);
}

/** Null: nothing yet, or nothing that could be held for or against the exit at this site. */
function saidBy(verdict: Verdict, isAnswered: boolean): Said | null {
  switch (verdict.name) {
    case 'ok':
      return isAnswered ? 'good' : 'reached';
    case 'blocked':
    case 'throttled':
      return 'refused';
    case 'upstream_failed':
      return 'failed';
    default:
      return null;
  }
}

/** Records a try, but for suspect answers, which wait for {@link settleSuspects}. True when the exit was set aside. */
export function recordTry(services: GatewayServices, job: Job, exit: Exit, judged: Judged): boolean {
  const { verdict, facts } = judged;
  const { target, requestId } = job.ask.context;
  const sighting = sightingOf(verdict, facts, job.ask.context.controls.detect);
  if (sighting !== null) showSite(services, target.site, { exit: exit.slot, sighting });
  const status = facts.kind === 'answer' ? facts.status : null;
  return tellOfBan(services, exit, effectOf(services, job, exit, judged), () =>
    evidenceOf(verdict, requestId, status),
  );
}

/** Whether the rule (or the status) behind this verdict is suspended at the site. */
export function isSuspended(services: GatewayServices, job: Job, { name, reason }: Verdict): boolean {
  if (name !== 'blocked' && name !== 'suspect') return false;
  return services.siteGuard.isSuspended(job.ask.context.target.site, reason, services.clock.nowMs());
}

/** Tells of a try and of what follows it; a retry is charged to its budget. */
export function tellTry(
  services: GatewayServices,
  job: Job,
  exit: Exit,
  end: { readonly verdict: Verdict; readonly decision: RetryDecision },
): void {
  const { verdict, decision } = end;
  services.emit({
    type: 'attempt_ended',
    requestId: job.trace.requestId,
    pool: exit.pool.name,
    upstream: exit.upstream.id,
    upstreamLabel: exit.upstream.label,
    site: job.ask.context.target.site,
    attempt: job.trace.attempts,
    verdict: verdict.name,
    reason: verdict.reason,
    retried: decision.kind === 'retry',
  });
  if (decision.kind === 'retry' && decision.budget === 'transport') {
    services.transportBudget.spend(services.clock.nowMs());
  }
}

function effectOf(
  services: GatewayServices,
  job: Job,
  exit: Exit,
  { verdict, facts, tookMs }: Judged,
): Effect {
  const { ledger, clock, siteGuard } = services;
  const { site } = job.ask.context.target;
  const nowMs = clock.nowMs();
  const isAnswered = facts.kind === 'answer' && !facts.refusedTunnel;
  // While the site is down or the rule fires on everything, nothing is held against an exit but what is its own.
  const isExcused = siteGuard.isDown(site) || isSuspended(services, job, verdict);
  // What may be the site's is held until the exchange shows more, see silences.ts.
  if (verdict.health === 'silent') return NONE;
  if (verdict.health !== null && !(isExcused && verdict.health === 'unclear'))
    return ledger.recordTransportFailure(exit.slot, verdict.health, nowMs, site);
  if (!isExcused) {
    if (verdict.rule !== null && verdict.name !== 'ok')
      return effectOfRule(services, exit, { site, verdict, isAnswered });
    if (verdict.name === 'throttled')
      return ledger.recordThrottled(exit.slot, site, verdict.retryAfterMs, nowMs);
  }
  if (!isAnswered) return NONE;
  if (verdict.name !== 'ok') return ledger.recordReached(exit.slot, nowMs);
  ledger.firstByte(exit.slot, tookMs);
  return ledger.recordSuccess(exit.slot, site, nowMs);
}

/**
 * Reads the end of an exchange back to the exits whose answers were suspect: blocked, counted, or nothing, because the
 * answer is the page's own.
 */
export function settleSuspects(
  services: GatewayServices,
  job: Job,
  suspects: readonly Suspect[],
  end: { readonly verdict: Verdict; readonly isPageOwn: boolean; readonly exit: Exit },
): void {
  const { ledger, clock, siteGuard } = services;
  const { target, requestId } = job.ask.context;
  const { site } = target;
  for (const suspect of suspects) {
    const { exit, status } = suspect;
    const meaning = judgeSuspects({ ...end, isOtherExit: exit.slot !== end.exit.slot });
    if (meaning === 'nothing') continue;
    learnOfSuspect(services, job, suspect);
    const rule = `status_${status}`;
    showSite(services, site, { exit: exit.slot, sighting: { kind: 'bad', rule } });
    const nowMs = clock.nowMs();
    const at = { exit: exit.upstream.id, site };
    if (services.reports.isReported(at.exit, site, nowMs)) {
      banReported(services, { ...at, request: requestId, field: rule });
      continue;
    }
    if (siteGuard.isDown(site) || siteGuard.isSuspended(site, rule, nowMs)) continue;
    const effect =
      meaning === 'count'
        ? ledger.recordSuspect(exit.slot, site, nowMs)
        : ledger.ban(exit.slot, site, { reason: 'suspect' }, nowMs);
    tellOfBan(services, exit, effect, () => plainEvidence(requestId, 'status', status));
  }
}
