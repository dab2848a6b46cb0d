/**
 * What the end of a delivered answer shows. A head is no success yet: an exit that cuts every body would look sound for
 * ever. So a good answer is written down as good when its body has come whole, and a cut as a fault on the way.
 */
import type { Fault, FaultKind } from '../core/fault.js';
import type { BodyFault } from '../http1/stream.js';
import { classify, type Verdict } from '../outcome/classify.js';
import type { AttemptFacts } from '../outcome/facts.js';
import type { RuleFinding } from '../outcome/finding.js';
import type { Delivery, Job } from './attempt.js';
import type { JudgedTry } from './held-answer.js';
import { showSite } from './guard-site.js';
import type { Exit } from './pick-exit.js';
import { learnOf, recordTry } from './record.js';
import type { GatewayServices } from './services.js';
import { settleSilences } from './silences.js';

const KINDS: Readonly<Record<BodyFault['kind'], FaultKind>> = {
  closed: 'closed',
  reset: 'reset',
  timeout: 'timeout',
  malformed: 'target_malformed',
  too_large: 'target_malformed',
  gone: 'client_gone',
};

/** A body that broke, in the words of faults on the way. */
export function faultOfBody({ kind, detail }: BodyFault): Fault {
  return { kind: 'fault', phase: 'body', fault: KINDS[kind], detail, requestSent: true };
}

/** Whether the end of this answer has to be waited for before it is written down. */
export function isEndDue(verdict: Verdict, facts: AttemptFacts): boolean {
  return verdict.name === 'ok' && facts.kind === 'answer' && facts.isBodyDue === true;
}

/** A good answer begins. A site that was down is up with the head, since a body may go on for hours. */
export function noteBegun(services: GatewayServices, job: Job, slot: number): void {
  const { site } = job.ask.context.target;
  if (services.siteGuard.isDown(site)) showSite(services, site, { exit: slot, sighting: { kind: 'good' } });
}

/** Writes down how a delivered answer ended; returns what a cut proved, null where there was none. */
export function recordEnd(
  services: GatewayServices,
  job: Job,
  last: JudgedTry,
  delivery: Delivery,
): Verdict | null {
  const { fault, end, bytes } = delivery;
  const { made, verdict } = last;
  if (fault !== undefined) {
    const cut = judge(job, last.exit, fault, null);
    write(services, job, last, { verdict: cut, facts: fault });
    return cut;
  }
  // A client that left before a byte of the body came may have waited for it in vain.
  const isGood = end === 'complete' || (end === 'client_gone' && bytes !== undefined && bytes.out > 0);
  if (isGood && isEndDue(verdict, made.facts)) write(services, job, last, { verdict, facts: made.facts });
  return null;
}

function write(
  services: GatewayServices,
  job: Job,
  { exit, visit, tookMs }: JudgedTry,
  { verdict, facts }: { readonly verdict: Verdict; readonly facts: AttemptFacts },
): void {
  recordTry(services, job, exit, { verdict, facts, tookMs });
  if (verdict.health === 'silent') settleSilences(services, job, { silences: [{ exit, verdict }] }, false);
  learnOf(services, job, { exit, visit, verdict, facts, tookMs });
}

/** What a try through an exit proved, by the rules of the exchange. */
export function judge(job: Job, exit: Exit, facts: AttemptFacts, finding: RuleFinding | null): Verdict {
  const { route, context } = job.ask;
  return classify(facts, {
    statuses: route.statuses,
    detect: context.controls.detect,
    upstreamHasLogin: exit.upstream.login !== null,
    finding,
  });
}
