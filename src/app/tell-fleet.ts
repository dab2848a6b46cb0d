/** What was decided here becomes a word of the fleet: about exits, logins and sites. What was heard is not said again. */
import type { SiteGuarded, TurnpikeEvent } from '../core/events.js';
import { RULE_SUSPENDED, SITE_DOWN, SITE_WORD_MS } from '../facts/site-word.js';
import { banKey } from '../state/ban-key.js';
import type { BanNews, OwnBan } from '../state/fallback/ban-news.js';
import { RETURNED } from './apply-ban.js';

/** @param heldBans keys (`banKey`) of all bans that are on here */
export function tellFleet(news: BanNews, event: TurnpikeEvent, heldBans: () => ReadonlySet<string>): void {
  switch (event.type) {
    case 'exit_banned':
      sayBan(news, event.upstream, event);
      return;
    case 'credential_banned':
      sayBan(news, event.credential, event);
      return;
    case 'site_guarded':
      tellOfSite(news, event, heldBans);
      return;
    case 'note':
      if (event.what === 'exit_lifted') sayEnd(news, event.detail, 'lifted');
      if (event.what === 'exit_returned') sayEnd(news, event.detail, RETURNED);
      return;
    default:
  }
}

function sayBan(
  news: BanNews,
  exit: string,
  { site, forMs: leftMs, strikes, reason }: Pick<OwnBan, 'site' | 'strikes' | 'reason'> & { forMs: number },
): void {
  news.say({ exit, site, leftMs, strikes, reason });
}

function sayEnd(news: BanNews, { exit, site }: Readonly<Record<string, unknown>>, reason: string): void {
  if (typeof exit !== 'string' || (typeof site !== 'string' && site !== null)) return;
  news.say({ exit, site, leftMs: 0, strikes: 0, reason });
}

/** Each gateway takes back what it said itself; together that is all. */
function tellOfSite(news: BanNews, event: SiteGuarded, heldBans: () => ReadonlySet<string>): void {
  const { site, change, rule, lifted } = event;
  if (lifted > 0) {
    const held = heldBans();
    news.takeBack((ban) => isAboutSite(ban.exit) || held.has(banKey(ban)));
  }
  if (event.isHeard) return;
  const isBegun = change === 'site_down' || change === 'rule_suspended';
  const isDown = change === 'site_down' || change === 'site_up';
  const leftMs = isBegun ? SITE_WORD_MS : 0;
  const exit = isDown ? SITE_DOWN : RULE_SUSPENDED;
  news.say({ exit, site, leftMs, strikes: 0, reason: rule ?? change });
}

function isAboutSite(exit: string): boolean {
  return exit === SITE_DOWN || exit === RULE_SUSPENDED;
}
