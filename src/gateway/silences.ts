/**
 * Silence and closed connections behind a standing dial may be the site's: a name that nobody has, asked through a proxy
 * that closes without a word. So they are held until the exchange shows whether another exit reaches the site, and what
 * fails at every exit counts against none.
 */
import type { AttemptFacts } from '../outcome/facts.js';
import type { Verdict } from '../outcome/classify.js';
import type { Job } from './attempt.js';
import { evidenceOf } from './ban-evidence.js';
import type { Exit } from './pick-exit.js';
import type { GatewayServices } from './services.js';
import { tellOfBan } from './tell-of-ban.js';

/** One of them. */
export interface Silence {
  readonly exit: Exit;
  readonly verdict: Verdict;
}

const NONE: readonly Silence[] = [];

/** Whether a try proved that the site can be reached. */
export function isReached({ failure }: Verdict, facts: AttemptFacts): boolean {
  return facts.kind === 'tunnel' || (facts.kind === 'answer' && !facts.refusedTunnel && failure === null);
}

/** Settles, once, the silences of an exchange so far. @param isReached whether another exit has reached the site since */
export function settleSilences(
  services: GatewayServices,
  job: Job,
  course: { silences: readonly Silence[] },
  isReached: boolean,
): void {
  const { silences } = course;
  if (silences.length === 0) return;
  course.silences = NONE;
  const { site } = job.ask.context.target;
  const { ledger, siteGuard, clock } = services;
  const nowMs = clock.nowMs();
  if (siteGuard.isDown(site) || (!isReached && siteGuard.isFailingAll(site, nowMs))) return;
  for (const { exit, verdict } of silences) {
    const effect = ledger.recordTransportFailure(exit.slot, 'silent', nowMs, site);
    tellOfBan(services, exit, effect, () => evidenceOf(verdict, job.ask.context.requestId, null));
  }
}
