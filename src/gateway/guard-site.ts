/** Shows the site guard what tries saw, and does what follows: bans are taken back, everybody is told. */
import type { Verdict } from '../outcome/classify.js';
import type { AttemptFacts } from '../outcome/facts.js';
import type { SiteWord } from '../facts/site-word.js';
import type { GuardChange, Sighting } from '../outcome/site-guard.js';
import type { GatewayServices } from './services.js';

const GOOD: Sighting = { kind: 'good' };
const BAD: Sighting = { kind: 'bad', rule: null };

/**
 * What a try says about the site; null: nothing. Suspect answers are shown once it is known whose they are; a site
 * that asks for less (429) is up, and what can only be the exit's own fault says nothing.
 */
export function sightingOf(verdict: Verdict, facts: AttemptFacts, isJudged: boolean): Sighting | null {
  if (!isJudged || facts.kind === 'tunnel') return null;
  switch (verdict.name) {
    case 'ok':
      return GOOD;
    case 'blocked':
      return { kind: 'bad', rule: verdict.reason };
    case 'target_failed':
      return isAboutName(verdict) ? null : BAD;
    case 'unclear':
      return facts.kind === 'answer' || verdict.health !== null ? BAD : null;
    case 'upstream_failed':
      return verdict.health === 'silent' ? BAD : null;
    default:
      return null;
  }
}

/** A name that does not exist, or leads where nobody may go, is one host of the site. */
function isAboutName({ failure }: Verdict): boolean {
  return (
    failure !== null &&
    failure.code !== 'target_unreachable' &&
    failure.code !== 'target_timeout' &&
    failure.code !== 'target_failed'
  );
}

/** Shows the guard what was seen through an exit (its number in the ledger). */
export function showSite(
  services: GatewayServices,
  site: string,
  seen: { readonly exit: number; readonly sighting: Sighting },
): void {
  const nowMs = services.clock.nowMs();
  const change = services.siteGuard.saw(site, seen.exit, seen.sighting, nowMs);
  if (change.kind !== 'none') follow(services, site, { change, nowMs, isHeard: false });
}

/** Another gateway told of a site. */
export function hearOfSite(services: GatewayServices, site: string, word: SiteWord): void {
  const nowMs = services.clock.nowMs();
  const change = services.siteGuard.heard(site, word, nowMs);
  if (change.kind !== 'none') follow(services, site, { change, nowMs, isHeard: true });
}

function follow(
  services: GatewayServices,
  site: string,
  seen: {
    readonly change: Exclude<GuardChange, { kind: 'none' }>;
    readonly nowMs: number;
    readonly isHeard: boolean;
  },
): void {
  const { change, nowMs, isHeard } = seen;
  const lifted = 'sinceMs' in change ? services.ledger.rollBack(site, change.sinceMs, nowMs) : 0;
  services.emit({
    type: 'site_guarded',
    site,
    change: change.kind,
    rule: 'rule' in change ? change.rule : null,
    exits: 'exits' in change ? change.exits : 0,
    lifted,
    isHeard,
  });
}
