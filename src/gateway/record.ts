/** Writes down what tries proved: in the ledger, and as events. */
import type { Effect } from '../exits/effect.js';
import type { Verdict } from '../outcome/classify.js';
import { judgeSuspects, type RetryDecision } from '../outcome/retry.js';
import type { Job } from './attempt.js';
import { cutOnBan } from './cut-tunnels.js';
import type { Exit } from './pick-exit.js';
import type { GatewayServices } from './services.js';

/** The end of a try. */
export interface Judged {
  readonly verdict: Verdict;
  /** Whether the target's own answer came back, so that the way is sound. */
  readonly isAnswered: boolean;
  readonly tookMs: number;
}

/** Records a try, but for suspect answers, which wait for {@link settleSuspects}. True when the exit was set aside. */
export function recordTry(services: GatewayServices, job: Job, exit: Exit, judged: Judged): boolean {
  return tellOfBan(services, exit, effectOf(services, job, exit, judged));
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

function effectOf(services: GatewayServices, job: Job, exit: Exit, judged: Judged): Effect {
  const { ledger, clock } = services;
  const { verdict } = judged;
  const { site } = job.ask.context.target;
  const nowMs = clock.nowMs();
  if (verdict.health !== null) return ledger.recordTransportFailure(exit.slot, verdict.health, nowMs, site);
  if (verdict.name === 'throttled')
    return ledger.recordThrottled(exit.slot, site, verdict.retryAfterMs, nowMs);
  if (!judged.isAnswered) return { kind: 'none' };
  if (verdict.name !== 'ok') return ledger.recordReached(exit.slot, nowMs);
  ledger.firstByte(exit.slot, judged.tookMs);
  return ledger.recordSuccess(exit.slot, site, nowMs);
}

/**
 * Reads the end of an exchange back to the exits whose answers were suspect: blocked, counted, or nothing, because the
 * answer is the page's own.
 */
export function settleSuspects(
  services: GatewayServices,
  job: Job,
  suspects: readonly Exit[],
  end: { readonly verdict: Verdict; readonly isPageOwn: boolean; readonly exit: Exit },
): void {
  const { ledger, clock } = services;
  const { site } = job.ask.context.target;
  for (const suspect of suspects) {
    const meaning = judgeSuspects({ ...end, isOtherExit: suspect.slot !== end.exit.slot });
    const nowMs = clock.nowMs();
    if (meaning === 'count') tellOfBan(services, suspect, ledger.recordSuspect(suspect.slot, site, nowMs));
    else if (meaning === 'ban_now') {
      tellOfBan(services, suspect, ledger.ban(suspect.slot, site, { reason: 'suspect' }, nowMs));
    }
  }
}

/** Tells of an exit that was set aside, and deals with its tunnels; true when it was. */
export function tellOfBan(services: GatewayServices, exit: Exit, effect: Effect): boolean {
  if (effect.kind !== 'banned') return false;
  services.emit({
    type: 'exit_banned',
    upstream: exit.upstream.id,
    upstreamLabel: exit.upstream.label,
    site: effect.site,
    reason: effect.reason,
    strikes: effect.strikes,
    forMs: effect.forMs,
  });
  const ban = { exit: exit.upstream.id, site: effect.site };
  cutOnBan(services.relays, services.rules().runtime.tunnels, ban);
  return true;
}
