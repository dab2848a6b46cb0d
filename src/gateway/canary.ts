/** What becomes of a request for a site that is down: it is told to wait, or it is the one that tries, of all gateways. */
import { CANARY_LAPSE_MS, type Admission } from '../outcome/site-guard.js';
import type { Job } from './attempt.js';
import { refuse, siteIsDown } from './respond.js';
import type { GatewayServices } from './services.js';

/** @param run serves the request */
export async function serveGuarded(
  services: GatewayServices,
  job: Job,
  admission: Exclude<Admission, { kind: 'open' }>,
  run: () => Promise<void>,
): Promise<void> {
  const { siteGuard, turns, clock } = services;
  const { site } = job.ask.context.target;
  if (admission.kind === 'closed') {
    turnAway(services, job, admission.retryAfterMs);
    return;
  }
  const { canaryMs } = job.ask.rules.runtime.guard;
  const answer = turns === null ? null : await turns.take(`canary ${site}`, CANARY_LAPSE_MS);
  if (answer !== null && answer.kind !== 'taken') {
    const waitMs = Math.min(answer.waitMs, canaryMs);
    siteGuard.canaryElsewhere(site, clock.nowMs() + waitMs);
    turnAway(services, job, waitMs);
    return;
  }
  try {
    await run();
  } finally {
    siteGuard.canaryEnded(site, clock.nowMs());
    if (answer !== null && turns !== null) void turns.end(answer.turn, siteGuard.isDown(site) ? canaryMs : 0);
  }
}

function turnAway(services: GatewayServices, job: Job, retryAfterMs: number): void {
  job.trace.verdict = 'target_failed';
  refuse(services, job.exchange, job.trace, siteIsDown(job.ask.context.target.site, retryAfterMs));
}
