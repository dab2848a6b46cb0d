/**
 * Strikes and times of what is set aside: one state machine for transport health and for bans of (exit, site).
 * Pure: time and chance come in, a new state goes out. Who counts failures, and over what, is the ledger's business.
 *
 *              failure                      time ends              success of the trial
 *   clear ───────────────▶ out ───────────────────────▶ half_open ───────────────────▶ clear
 *                           ▲                              │ a request is let through
 *                           │          failure             ▼
 *                           └─────────────────────────── trial ── no word for a while ──▶ half_open
 */

import type { BanEvidence } from '../core/events.js';

/** What an exit can do wrong on the way, whatever the site: counted in its transport health. */
export type TransportFault =
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'dns'
  | 'tls'
  | 'auth'
  | 'closed'
  | 'reset'
  | 'protocol'
  /** The connection stands and nothing comes: the exit's fault or the target's. */
  | 'silent'
  /** The exit reports a fault of its own. */
  | 'error'
  /** A gateway error without a mark: the exit's or the target's. */
  | 'unclear';

/** Where a ban stands in time. */
export type BanPhase = 'clear' | 'out' | 'half_open' | 'trial';

/** A ban or its memory. Times are monotonic milliseconds. */
export interface BanState {
  /** How often in a row it was set aside; decays with successes. */
  readonly strikes: number;
  /** End of the time set aside; `CLEAR` where it is in use. */
  readonly untilMs: number;
  /** When the trial of the half-open state began; -Infinity where none runs. */
  readonly trialMs: number;
  /** When it last came back from being set aside; -Infinity before. */
  readonly returnedMs: number;
  /** When strikes last changed. */
  readonly changedMs: number;
  readonly reason: string;
  /** A person, or the site itself by Retry-After, said so. */
  readonly isOrder: boolean;
  /** The one site that all faults behind a ban altogether had to do with, so that it may be the site's fault; or null. */
  readonly oneSite: string | null;
  /** What it went by; null where nobody has noted it. */
  readonly evidence: BanEvidence | null;
}

/** How long things last. */
export interface BanTimes {
  readonly baseMs: number;
  readonly capMs: number;
  /** Extra time by chance, as a share: 0.2 is 0…+20 %. */
  readonly jitter: number;
}

/** `untilMs` of an exit that is in use. */
export const CLEAR = -Infinity;

/** How long a trial may go without a word until the next one is let through. */
export const TRIAL_MS = 60_000;

const TRIAL_WAIT_MS = 1000;
const RETURN_STEP_MS = 5000;
const RETURN_MS = 6 * RETURN_STEP_MS;
const NEVER = -Infinity;
/** Above this the doubling is beyond any cap. */
const MAX_STRIKES = 40;

/** Nothing known against an exit. */
export const noBan: BanState = {
  strikes: 0,
  untilMs: CLEAR,
  trialMs: NEVER,
  returnedMs: NEVER,
  changedMs: NEVER,
  reason: '',
  isOrder: false,
  oneSite: null,
  evidence: null,
};

/** What may happen to a ban, and what it becomes; everything else leaves it as it is. The clock moves `out` to `half_open`. */
export const banTransitions = {
  clear: { failure: 'out', success: 'clear', admit: 'clear' },
  out: { failure: 'out', success: 'out', admit: 'out' },
  half_open: { failure: 'out', success: 'clear', admit: 'trial' },
  trial: { failure: 'out', success: 'clear', admit: 'trial' },
} as const satisfies Record<BanPhase, Record<'failure' | 'success' | 'admit', BanPhase>>;

/** Where a ban stands at `nowMs`. */
export function phaseOf(state: BanState, nowMs: number): BanPhase {
  if (state.untilMs === CLEAR) return 'clear';
  if (nowMs < state.untilMs) return 'out';
  return nowMs < state.trialMs + TRIAL_MS ? 'trial' : 'half_open';
}

/** Whether a request may go through: in use, or half-open with no trial under way. */
export function isAdmitting(state: BanState, nowMs: number): boolean {
  const phase = phaseOf(state, nowMs);
  return phase === 'clear' || phase === 'half_open';
}

/** Whether a ban is on, its time or its trial still to end. */
export function isAside(state: BanState): boolean {
  return state.untilMs !== CLEAR;
}

/** When the next request may go; while a trial runs, a second after that began, since nobody knows when it ends. */
export function opensAtMs(state: BanState): number {
  return Math.max(state.untilMs, state.trialMs + TRIAL_WAIT_MS);
}

/**
 * How long the n-th time lasts: `base × 2^(strikes−1)`, at most the cap, and a share of chance on top.
 * @param strikes from 1
 * @param chance in [0, 1)
 */
export function banMs(strikes: number, times: BanTimes, chance: number): number {
  const plain = Math.min(times.baseMs * 2 ** (Math.min(strikes, MAX_STRIKES) - 1), times.capMs);
  return plain * (1 + times.jitter * chance);
}

/** One more strike: set aside from `nowMs` for `forMs`. */
export function struck(
  state: BanState,
  forMs: number,
  cause: {
    readonly reason: string;
    readonly nowMs: number;
    readonly isOrder?: boolean;
    readonly oneSite?: string | null;
  },
): BanState {
  return {
    strikes: Math.min(state.strikes + 1, MAX_STRIKES),
    untilMs: cause.nowMs + forMs,
    trialMs: NEVER,
    returnedMs: NEVER,
    changedMs: cause.nowMs,
    reason: cause.reason,
    isOrder: cause.isOrder === true,
    oneSite: cause.oneSite ?? null,
    evidence: null,
  };
}

/**
 * A success. It ends a half-open state; an exit that is out stays out (the answer is from before).
 * In use, it takes one strike off, but at most one each `baseMs`, so that a busy exit doesn't forget at once.
 */
export function succeeded(state: BanState, baseMs: number, nowMs: number): BanState {
  const phase = phaseOf(state, nowMs);
  if (phase === 'out') return state;
  if (phase !== 'clear') return returned(state, nowMs);
  if (state.strikes === 0 || nowMs - state.changedMs < baseMs) return state;
  return { ...state, strikes: state.strikes - 1, changedMs: nowMs };
}

/** Ended by a trial that went well, here or at another gateway; its strikes stay. */
export function returned(state: BanState, nowMs: number): BanState {
  return { ...state, untilMs: CLEAR, trialMs: NEVER, returnedMs: nowMs, changedMs: nowMs };
}

/** Ended before its time; its strikes stay. */
export function lifted(state: BanState): BanState {
  return { ...state, untilMs: CLEAR, trialMs: NEVER };
}

/** Ended because it was a mistake: its strike goes as well. */
export function forgiven(state: BanState, nowMs: number): BanState {
  return { ...lifted(state), strikes: Math.max(0, state.strikes - 1), changedMs: nowMs };
}

/**
 * How many exchanges at once an exit may have that has just come back: one, and twice as many every five seconds, until
 * after half a minute there is no bound, so that what made it fail is not done to it again at once.
 */
export function mostAfterReturn(state: BanState, nowMs: number): number {
  const sinceMs = nowMs - state.returnedMs;
  return sinceMs >= RETURN_MS ? Infinity : 2 ** Math.floor(sinceMs / RETURN_STEP_MS);
}

/** A request is let through: in the half-open state it is the trial, in all others nothing changes. */
export function admitted(state: BanState, nowMs: number): BanState {
  return phaseOf(state, nowMs) === 'half_open' ? { ...state, trialMs: nowMs } : state;
}

/** The trial ended without a word about the exit: another one may go. */
export function trialReleased(state: BanState): BanState {
  return state.trialMs === NEVER ? state : { ...state, trialMs: NEVER };
}

/** The trial turned out to be another gateway's: the ban goes on until `overMs`, when this one may ask again. */
export function triedElsewhere(state: BanState, overMs: number): BanState {
  if (state.trialMs === NEVER) return state;
  return { ...state, trialMs: NEVER, untilMs: Math.max(state.untilMs, overMs) };
}

/** How bans are counted; times in milliseconds (`bans` in the configuration). */
export interface BanRules {
  readonly siteMs: number;
  readonly siteCapMs: number;
  readonly transportMs: number;
  readonly transportCapMs: number;
  /** Extra time by chance, as a share: 0.2 is 0…+20 %. */
  readonly jitter: number;
  /** Largest share of a pool that may be set aside by itself; always at least one exit. */
  readonly maxEjected: number;
  /** How many suspect answers within the window make a ban. */
  readonly suspectCount: number;
  readonly suspectWindowMs: number;
}

/** Times of a ban for one site. */
export function siteTimes(rules: BanRules): BanTimes {
  return { baseMs: rules.siteMs, capMs: rules.siteCapMs, jitter: rules.jitter };
}

/** Times of an exit that is out altogether. */
export function transportTimes(rules: BanRules): BanTimes {
  return { baseMs: rules.transportMs, capMs: rules.transportCapMs, jitter: rules.jitter };
}
