/**
 * Rates as the generic cell rate algorithm keeps them (GCRA): one number per limit, the time at which it would be
 * whole again. No clock, no counters to sweep; the shared store does the same arithmetic.
 */

/** So many in so much time, and how many of them at once. */
export interface Rate {
  readonly count: number;
  readonly perMs: number;
  /** Most at once after a pause; `count` where not given. */
  readonly burst?: number;
}

const RATE =
  /^([1-9][0-9]{0,8}) ?\/ ?([1-9][0-9]{0,5})?(ms|s|sec|second|m|min|minute|h|hour|d|day)s?(?: burst ([1-9][0-9]{0,8}))?$/;

const unitMs: Readonly<Record<string, number>> = {
  ...{ ms: 1, s: 1000, sec: 1000, second: 1000, m: 60_000, min: 60_000, minute: 60_000 },
  ...{ h: 3_600_000, hour: 3_600_000, d: 86_400_000, day: 86_400_000 },
};

/** Reads `600/min`, `100/10m`, `300/hour`, `50/s burst 10`. Null for anything else. */
export function parseRate(text: string): Rate | null {
  const match = RATE.exec(text.trim());
  const unit = unitMs[match?.[3] ?? ''];
  if (match === null || unit === undefined) return null;
  const count = Number(match[1]);
  const perMs = Number(match[2] ?? 1) * unit;
  return match[4] === undefined ? { count, perMs } : { count, perMs, burst: Number(match[4]) };
}

export type Taken =
  /** `fullAtMs` replaces the kept number. */
  | { readonly kind: 'taken'; readonly fullAtMs: number }
  | { readonly kind: 'limited'; readonly retryAfterMs: number };

/**
 * Takes one from the rate at `nowMs`. `fullAtMs` is what the last take gave, 0 or any time in the past at first.
 * A refusal changes nothing, so that asking too often doesn't prolong the wait.
 */
export function takeOne(rate: Rate, fullAtMs: number, nowMs: number): Taken {
  const stepMs = rate.perMs / rate.count;
  const base = Math.max(fullAtMs, nowMs);
  const waitMs = base + stepMs - nowMs - (rate.burst ?? rate.count) * stepMs;
  // Sums of fractions drift, the more the later it is; a whole burst must not fail for its last one.
  return waitMs > 1e-6 + base * 1e-12
    ? { kind: 'limited', retryAfterMs: Math.ceil(waitMs) }
    : { kind: 'taken', fullAtMs: base + stepMs };
}

/** Charges what has passed already, allowed or not; what the rate can't bear makes the next wait longer. */
export function charged(
  rate: Rate,
  use: { readonly fullAtMs: number; readonly amount: number },
  nowMs: number,
): number {
  return Math.max(use.fullAtMs, nowMs) + (use.amount * rate.perMs) / rate.count;
}

/** What the kept number becomes when one that was taken is given back. */
export function givenBack(rate: Rate, fullAtMs: number): number {
  return fullAtMs - rate.perMs / rate.count;
}

/** How long until less than the whole rate is used; 0 or less where it is not used up. Milliseconds. */
export function msUntilFree(rate: Rate, fullAtMs: number, nowMs: number): number {
  return Math.floor(fullAtMs - nowMs - rate.perMs) + 1;
}

/** How much of a rate is used now, in whole ones. */
export function used(rate: Rate, fullAtMs: number, nowMs: number): number {
  return Math.round((Math.max(0, fullAtMs - nowMs) * rate.count) / rate.perMs);
}

/** What came of asking for several at once. */
export interface Granted {
  /** So many of those asked for, from 0. */
  readonly granted: number;
  readonly fullAtMs: number;
  /** How long until the next one is free; 0 when any was granted. */
  readonly retryAfterMs: number;
}

/** Takes up to `wanted` from the rate at `nowMs`, as many times {@link takeOne} as it allows. */
export function takeUpTo(rate: Rate, use: { fullAtMs: number; wanted: number }, nowMs: number): Granted {
  const stepMs = rate.perMs / rate.count;
  const base = Math.max(use.fullAtMs, nowMs);
  const roomMs = nowMs + (rate.burst ?? rate.count) * stepMs - base;
  const free = Math.floor((roomMs + 1e-6 + base * 1e-12) / stepMs);
  const granted = Math.max(0, Math.min(use.wanted, free));
  if (granted > 0) return { granted, fullAtMs: base + granted * stepMs, retryAfterMs: 0 };
  return { granted, fullAtMs: use.fullAtMs, retryAfterMs: Math.ceil(Math.max(stepMs - roomMs, 1)) };
}

/** The part of a rate that one of so many gateways keeps to when they can't ask each other. */
export function shareOfRate(rate: Rate, gateways: number): Rate {
  const parts = Math.max(1, gateways);
  const burst = Math.max(1, Math.floor((rate.burst ?? rate.count) / parts));
  return { count: rate.count / parts, perMs: rate.perMs, burst };
}
