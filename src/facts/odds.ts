/**
 * How likely an exit is to bring a good page from a site, and how fast: successes and failures with forgetting, from which
 * a guess is drawn (Thompson sampling), so that who is little known gets its chances and who fails gets few.
 */
import type { Random } from '../core/random.js';
import { smoothed } from '../core/smoothed.js';

/** What was seen of one exit at one site; older things count less. */
export interface Odds {
  readonly goods: number;
  readonly bads: number;
  /** Smoothed time to the first byte; 0: none yet. */
  readonly latencyMs: number;
  /** Of when the counts are. */
  readonly atMs: number;
}

/** After this time everything counts half. */
export const ODDS_HALVE_MS = 300_000;
/** With so many tries behind it, each further one replaces one. */
const MOST_TRIES = 50;
/** Weight of the newest time. */
const SMOOTHING = 0.2;
/** Nobody is written off altogether. */
export const LEAST_ODDS = 0.02;

/** Nothing seen yet. */
export const noOdds: Odds = { goods: 0, bads: 0, latencyMs: 0, atMs: 0 };

/** One more answer. @param latencyMs time to its first byte; null where it was none that counts */
export function oddsAfter(
  odds: Odds,
  end: { readonly isGood: boolean; readonly latencyMs: number | null },
  nowMs: number,
): Odds {
  const share = faded(odds, nowMs);
  const { latencyMs } = end;
  return {
    goods: odds.goods * share + (end.isGood ? 1 : 0),
    bads: odds.bads * share + (end.isGood ? 0 : 1),
    latencyMs: latencyMs === null ? odds.latencyMs : smoothed(odds.latencyMs, latencyMs, SMOOTHING),
    atMs: nowMs,
  };
}

function faded({ goods, bads, atMs }: Odds, nowMs: number): number {
  const byTime = 0.5 ** (Math.max(0, nowMs - atMs) / ODDS_HALVE_MS);
  const tries = (goods + bads) * byTime;
  return tries > MOST_TRIES - 1 ? byTime * ((MOST_TRIES - 1) / tries) : byTime;
}

/**
 * A guess at the share of good pages, drawn from what is known: near the mean where much is, anywhere where little is.
 * A normal distribution with the mean and spread of the Beta distribution of the counts. From {@link LEAST_ODDS} to 1.
 */
export function drawOdds(odds: Odds, nowMs: number, random: Random): number {
  const share = 0.5 ** (Math.max(0, nowMs - odds.atMs) / ODDS_HALVE_MS);
  const bads = odds.bads * share;
  if (bads < 0.05) return 1;
  const tries = odds.goods * share + bads + 2;
  const mean = (odds.goods * share + 1) / tries;
  const spread = Math.sqrt((mean * (1 - mean)) / (tries + 1));
  const normal = (random.float() + random.float() + random.float() - 1.5) * 2;
  return Math.min(1, Math.max(LEAST_ODDS, mean + normal * spread));
}
