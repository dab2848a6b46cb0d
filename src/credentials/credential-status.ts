/**
 * What sets and lifts the status of a credential, as one table; `docs/credentials.md` shows the same. PURE: knows no store and
 * no clock, and not who may say what – only what follows from it.
 *
 * A rest (`cooldown`, `exhausted`) ends by its time: what is kept stays as it is, and what holds now is `active`. Rests grow: a
 * cool-down that follows the end of another within the length of that one (at least 10 minutes) lasts twice as long as it, up to
 * a day. A success in between (`ok`) makes the next one short again.
 */
import type { CredentialRow, CredentialStatus } from '../storage/credential-ports.js';

/** What a holder reports, or the gateway sees itself. */
export const sights = ['ok', 'rate_limited', 'blocked', 'exhausted', 'banned', 'invalid'] as const;
export type Sight = (typeof sights)[number];

/** All that can happen to a credential, but an administrator who sets a status: that always becomes it. */
export const statusEvents = [...sights, 'healthy', 'new_secret', 'cool_down'] as const;
export type StatusEvent = (typeof statusEvents)[number];

/** `-`: it stays as it is. `longer`: only where the time that was said ends later than the rest that is on. */
type Cell = CredentialStatus | '-' | 'longer';

/** By event: what becomes of a credential that holds now as … */
export const statusTable: Readonly<Record<StatusEvent, Readonly<Record<CredentialStatus, Cell>>>> = {
  ok: row('active', ['-', '-'], ['-', '-', '-']),
  rate_limited: row('cooldown', ['longer', '-'], ['-', '-', '-']),
  blocked: row('cooldown', ['longer', '-'], ['-', '-', '-']),
  exhausted: row('exhausted', ['exhausted', 'longer'], ['-', '-', '-']),
  banned: row('banned', ['banned', 'banned'], ['-', 'banned', '-']),
  invalid: row('invalid', ['invalid', 'invalid'], ['-', '-', '-']),
  // A light request succeeded: the account lives and its secret is right. It says nothing about a quota.
  healthy: row('active', ['active', '-'], ['active', 'active', '-']),
  new_secret: row('-', ['-', '-'], ['-', 'active', '-']),
  cool_down: row('cooldown', ['cooldown', 'cooldown'], ['-', '-', '-']),
};

function row(
  active: Cell,
  [cooldown, exhausted]: readonly [Cell, Cell],
  [banned, invalid, disabled]: readonly [Cell, Cell, Cell],
): Readonly<Record<CredentialStatus, Cell>> {
  return { active, cooldown, exhausted, banned, invalid, disabled };
}

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** How long a rest lasts where nobody said. */
export const restMs: Readonly<Partial<Record<StatusEvent, number>>> = {
  rate_limited: MINUTE_MS,
  blocked: 15 * MINUTE_MS,
  exhausted: DAY_MS,
};
/** No cool-down lasts longer by itself. */
export const longestRestMs = DAY_MS;
const MEMORY_MS = 10 * MINUTE_MS;
/** The longest time that anybody may say. */
export const longestSaidMs = 366 * DAY_MS;

/** What a decision needs of a credential. */
export type StatusFacts = Pick<CredentialRow, 'status' | 'untilMs' | 'updatedMs'>;

/** What is to be kept, if anything. */
export type StatusMove =
  | { readonly kind: 'stay' }
  | { readonly kind: 'set'; readonly status: CredentialStatus; readonly forMs: number | null };

/** Whether this status ends by itself. */
export function isRest(status: CredentialStatus): boolean {
  return status === 'cooldown' || status === 'exhausted';
}

/** What holds at `nowMs`, by the store's clock. */
export function statusAt(
  { status, untilMs }: Pick<StatusFacts, 'status' | 'untilMs'>,
  nowMs: number,
): CredentialStatus {
  return isRest(status) && untilMs !== null && untilMs <= nowMs ? 'active' : status;
}

/**
 * What follows from an event.
 * @param saidMs how long the site or the administrator said; null where nobody did
 */
export function moveOf(
  facts: StatusFacts,
  event: StatusEvent,
  at: { nowMs: number; saidMs: number | null },
): StatusMove {
  const now = statusAt(facts, at.nowMs);
  const cell = statusTable[event][now];
  if (cell === '-') return { kind: 'stay' };
  if (cell === 'longer') return longer(facts, at);
  // Nothing to forget.
  if (cell === facts.status && !isRest(cell)) return { kind: 'stay' };
  return { kind: 'set', status: cell, forMs: isRest(cell) ? lengthOf(facts, event, at) : null };
}

function longer(
  { status, untilMs }: StatusFacts,
  { nowMs, saidMs }: { nowMs: number; saidMs: number | null },
): StatusMove {
  // A rest without end is the longest.
  if (saidMs === null || untilMs === null) return { kind: 'stay' };
  const forMs = bounded(saidMs);
  return nowMs + forMs > untilMs + SECOND_MS ? { kind: 'set', status, forMs } : { kind: 'stay' };
}

function lengthOf(
  facts: StatusFacts,
  event: StatusEvent,
  at: { nowMs: number; saidMs: number | null },
): number {
  const base = bounded(at.saidMs ?? restMs[event] ?? MINUTE_MS);
  if (event !== 'rate_limited' && event !== 'blocked') return base;
  return Math.max(base, Math.min(2 * lastRestMs(facts, at.nowMs), longestRestMs));
}

/** Length of the cool-down before, 0 where there was none or it is forgotten. */
function lastRestMs({ status, untilMs, updatedMs }: StatusFacts, nowMs: number): number {
  if (status !== 'cooldown' || untilMs === null) return 0;
  const lengthMs = Math.max(0, untilMs - updatedMs);
  return nowMs - untilMs <= Math.max(lengthMs, MEMORY_MS) ? lengthMs : 0;
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), SECOND_MS), longestSaidMs);
}
