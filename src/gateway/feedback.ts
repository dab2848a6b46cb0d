/**
 * What a client says of an earlier answer, by header or by the API. It counts for that client alone, until another client
 * or what the gateway itself sees agrees.
 */
import type { FeedbackGiven } from '../core/events.js';
import { plainEvidence } from './ban-evidence.js';
import type { GatewayServices } from './services.js';
import { tellOfBan } from './tell-of-ban.js';

/** What a client can say: the answer was a block, or it was good after all. */
export const feedbackVerdicts = ['blocked', 'ok'] as const;

/** A receipt and what is said of it. */
export interface Feedback {
  readonly id: string;
  readonly verdict: string;
}

/** What came of it. */
export type FeedbackTaken =
  | {
      readonly kind: 'taken';
      readonly exit: string;
      readonly site: string;
      readonly outcome: FeedbackGiven['outcome'];
    }
  /** `detail` is a sentence for the client. */
  | { readonly kind: 'refused'; readonly detail: string };

/** Takes the word of a client. */
export function takeFeedback(services: GatewayServices, client: string, said: Feedback): FeedbackTaken {
  const { receipts, clock } = services;
  const { verdict } = said;
  if (verdict !== 'blocked' && verdict !== 'ok')
    return refused(`The verdict of feedback must be one of ${feedbackVerdicts.join(', ')}.`);
  const read = receipts.read(said.id, client, clock.wallMs());
  if (read.kind === 'bad') return refused(`The id of the feedback ${read.reason}.`);
  const { exit, site, request } = read.receipt;
  const outcome =
    verdict === 'ok' ? withdraw(services, client, { exit, site }) : report(services, client, read.receipt);
  services.emit({
    type: 'feedback_given',
    client,
    requestId: request,
    upstream: exit,
    site,
    verdict,
    outcome,
  });
  return { kind: 'taken', exit, site, outcome };
}

function withdraw(
  { reports }: GatewayServices,
  client: string,
  at: { readonly exit: string; readonly site: string },
): FeedbackGiven['outcome'] {
  reports.withdraw(client, at);
  return 'withdrawn';
}

function report(
  services: GatewayServices,
  client: string,
  { exit, site, request }: { exit: string; site: string; request: string },
): FeedbackGiven['outcome'] {
  const { reports, clock } = services;
  const reported = reports.report(client, { exit, site }, clock.nowMs());
  if (reported === 'agreed') banReported(services, { exit, site, request, field: 'several clients' });
  return reported;
}

/**
 * Bans an exit at a site for everybody: more than one client says so, or one does and our own traffic has a sign of it.
 * True when it was set aside.
 */
export function banReported(
  services: GatewayServices,
  said: { readonly exit: string; readonly site: string; readonly request: string; readonly field: string },
): boolean {
  const { ledger, clock, siteGuard, reports } = services;
  const { exit, site } = said;
  const found = exitOf(services, exit);
  if (found === null || siteGuard.isDown(site)) return false;
  const effect = ledger.ban(found.slot, site, { reason: 'feedback', isDoubtful: true }, clock.nowMs());
  const isBanned = tellOfBan(services, found, effect, () => plainEvidence(said.request, said.field));
  if (isBanned) reports.settle(exit, site);
  return isBanned;
}

/** The exit of this id, if a pool still has it. */
function exitOf(services: GatewayServices, id: string) {
  for (const pool of services.rules().runtime.pools.values()) {
    const index = pool.indexById.get(id);
    const upstream = index === undefined ? undefined : pool.upstreams[index];
    const slot = index === undefined ? undefined : pool.slots[index];
    if (upstream !== undefined && slot !== undefined) return { upstream, slot };
  }
  return null;
}

function refused(detail: string): FeedbackTaken {
  return { kind: 'refused', detail };
}
