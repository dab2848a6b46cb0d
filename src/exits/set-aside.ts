/** How a ban comes about in a book: whether its pools allow it, how long it lasts, and what becomes of one that is on. */
import type { Random } from '../core/random.js';
import { banMs, phaseOf, siteTimes, struck, transportTimes } from '../facts/ban.js';
import type { BanRules } from '../facts/ban.js';
import type { BanBook } from './ban-book.js';
import type { BanAsk, Effect } from './effect.js';

/** By what it is reckoned. */
export interface BanTerms {
  readonly rules: BanRules;
  readonly random: Random;
  readonly nowMs: number;
}

/** Whom it is about: the number of an exit or a credential, at a site or (null) altogether. */
export interface BanPlace {
  readonly slot: number;
  readonly site: string | null;
}

/** The site asks for less: how it is set aside for that. Without a time, for as long as a transport fault lasts. */
export function throttling(
  book: BanBook,
  { slot, site }: BanPlace,
  retryAfterMs: number | null,
  { rules, random, nowMs }: BanTerms,
): BanAsk {
  const before = book.banOf(slot, site);
  const strikes = phaseOf(before, nowMs) === 'out' ? before.strikes : before.strikes + 1;
  const baseMs = retryAfterMs ?? rules.transportMs;
  const forMs = banMs(strikes, { ...siteTimes(rules), baseMs }, random.float());
  return { reason: 'throttled', forMs, isOrder: retryAfterMs !== null };
}

/**
 * Sets aside. What is out already gets no second strike, its time is only made longer when `forMs` asks for more.
 */
export function setAside(book: BanBook, { slot, site }: BanPlace, ask: BanAsk, terms: BanTerms): Effect {
  const { rules, random, nowMs } = terms;
  const { reason } = ask;
  const state = book.banOf(slot, site);
  const times = site === null ? transportTimes(rules) : siteTimes(rules);
  const longestMs = ask.isExact === true ? Infinity : times.capMs * (1 + times.jitter);
  const phase = phaseOf(state, nowMs);
  if (phase === 'out' && ask.isExact !== true) {
    const untilMs = nowMs + Math.min(ask.forMs ?? 0, longestMs);
    if (untilMs > state.untilMs) book.setBan(slot, site, { ...state, untilMs }, nowMs);
    return { kind: 'none' };
  }
  if (phase === 'clear' && ask.isOrder !== true) {
    const pool = book.quota.fullPool(slot, site, ask.isDoubtful);
    if (pool !== null) return { kind: 'spared', site, reason, pool };
  }
  const plainMs = banMs(state.strikes + 1, times, random.float());
  const forMs = Math.min(ask.forMs ?? plainMs, longestMs);
  const { isOrder = false, oneSite = null } = ask;
  const ban = struck(state, forMs, { reason, nowMs, isOrder, oneSite });
  book.setBan(slot, site, ban, nowMs);
  return { kind: 'banned', site, reason, strikes: ban.strikes, forMs };
}
