/** Finds the exit for the next try: the session's own, or by strategy; waits a bounded time for one to come free. */
import type { Failure } from '../core/errors.js';
import type { SessionPinned } from '../core/events.js';
import type { Abandonment } from '../open/dial.js';
import { untilTomorrowMs } from '../outcome/spending.js';
import { withRouteFilter } from '../routing/route.js';
import type { HeldLease } from '../state/fallback/held-lease.js';
import { choose, type Ask as ChooseAsk, type Choice, type ExitFilter } from '../upstreams/choose.js';
import type { Neighbours } from '../upstreams/neighbours.js';
import type { Pool } from '../upstreams/pool.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { Job } from './attempt.js';
import type { GatewayServices } from './services.js';
import type { SessionPin } from './session-pin.js';
import { isBroke, isTooDear, poolsFor } from './tiers.js';

/** An exit for one try. */
export interface Exit {
  readonly kind: 'exit';
  readonly pool: Pool;
  readonly upstream: Upstream;
  /** Its number in the ledger. */
  readonly slot: number;
  /** Under which key its connections may be kept and reused. */
  readonly idleKey: string;
  /** What is held of it from being taken up until the try is over. */
  lease: HeldLease | null;
}

/** An exit that other gateways may have. */
export interface Askable {
  readonly pool: Pool;
  readonly index: number;
  /** No other will do. */
  readonly isNamed: boolean;
}

/** No exit, and what to tell the client. */
export interface NoExit {
  readonly kind: 'none';
  readonly failure: Failure;
  /** Whether the session's exit would do but for its slots: it waits, and does not move. */
  readonly isFull: boolean;
  /** Whether there are exits that only have to rest. */
  readonly isResting: boolean;
  /** An exit that would do, and that this gateway may ask for. */
  readonly askable?: Askable;
}

/** One request asks for so many exits at most, one after the other. */
const MAX_ASKS = 4;
/** Another gateway gives a session's exit back within so long, when it has nothing under way there. */
const HANDOVER_MS = 10;

type None = Extract<Choice, { kind: 'none' }>;

const noPool: None = {
  kind: 'none',
  retryAfterMs: null,
  reason: 'no pool of the route matches',
  isImpossible: true,
};

/** What picking needs of the exchange's course. */
export interface PickCourse {
  readonly deadlineMs: number;
  readonly avoid: ReadonlySet<string>;
  /** Places that were tried; null before the first retry. */
  readonly neighbours: Neighbours | null;
  readonly abandonment: Abandonment;
  readonly pin: SessionPin | null;
  /** No exit is waited for longer than until then. */
  readonly acquireByMs: number;
  /** Only so many pools of the route; all when not given. */
  readonly poolCount?: number;
  /** The time to judge by, where several must be judged by the same; now when not given. */
  readonly nowMs?: number;
}

/** {@link pickFree} where nobody waits: the usual cases. */
export function pickAtOnce(services: GatewayServices, job: Job, course: PickCourse): Exit | null {
  if (services.waiting.size > 0 && services.waiting.has(lineOf(job))) return null;
  return pickFree(services, job, course);
}

/** The exit of a session that stays, or of a request without session, if one is free now. */
export function pickFree(services: GatewayServices, job: Job, course: PickCourse): Exit | null {
  const { pin } = course;
  const pinned = pin?.look() ?? null;
  if (pin !== null && pinned === null) return null;
  const found = chooseFrom(services, job, course, pinned);
  if (found.kind === 'none' || (pin !== null && found.upstream.id !== pinned)) return null;
  job.trace.generation = pin?.pin?.generation ?? null;
  return found;
}

/** Who competes for the same exits. */
export function lineOf({ ask }: Job): string {
  return `${ask.route.label}\n${ask.context.target.site}`;
}

/** The exit of the session, or another one to which it moves, if one is free now. */
export async function pickNow(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
): Promise<Exit | NoExit> {
  const { pin } = course;
  const pinned = pin === null ? null : await pin.exit();
  const found = await chooseOrAsk(services, job, course, pinned);
  if (pin === null || (found.kind === 'none' && pinned === null)) return found;
  job.trace.generation = pin.pin?.generation ?? null;
  const isKept = found.kind === 'exit' ? found.upstream.id === pinned : found.isFull;
  if (isKept) return found;
  if (pinned !== null && pin.ask.mode === 'hard') return sessionLost();
  if (found.kind === 'none') return found;
  const why = reasonOfMove(job, course, pinned ?? '');
  const holds = await pin.settle(found.upstream.id, why);
  job.trace.generation = pin.pin?.generation ?? null;
  if (holds === found.upstream.id) return found;
  return chooseOrAsk(services, job, course, holds);
}

/** Where the pool is leased, and none that is held will do, others are asked for; a few times, since others ask, too. */
async function chooseOrAsk(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
  pinned: string | null,
): Promise<Exit | NoExit> {
  let found = chooseFrom(services, job, course, pinned);
  for (let asked = 0; asked < MAX_ASKS && found.kind === 'none'; asked++) {
    const { askable } = found;
    if (askable === undefined || course.abandonment.isAbandoned) return found;
    const isLast = asked === MAX_ASKS - 1;
    await services.shares.ask(askable.pool, askable.index, askable.isNamed || isLast);
    found = chooseFrom(services, job, course, pinned);
  }
  return found;
}

function reasonOfMove(job: Job, course: PickCourse, pinned: string): SessionPinned['reason'] {
  if (course.avoid.has(pinned)) return 'exit_failed';
  const { pools } = job.ask.rules.runtime;
  return job.ask.route.pools.some((name) => pools.get(name)?.indexById.has(pinned) === true)
    ? 'exit_banned'
    : 'exit_gone';
}

/** The first pool of the route that has an exit; for a session, the pool of its exit before all others. */
export function chooseFrom(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
  pinned: string | null,
): Exit | NoExit {
  const { route, context } = job.ask;
  const filter = withRouteFilter(context.controls.filter, route.filter);
  const all = poolsFor(services, job, pinned);
  const pools = course.poolCount === undefined ? all : all.slice(0, course.poolCount);
  if (all.length === 0 && isBroke(services, job)) return isTooDear(job) ? tooDear(job) : noBudget(services);
  let soonest: None = noPool;
  for (const pool of pools) {
    const ask = askFor(services, job, course, { pool, pinned, filter });
    const choice = choose(ask);
    if (choice.kind === 'exit') {
      job.trace.why = choice.why;
      return exitOf(pool, choice.index, { sessionKey: course.pin?.key ?? null, filter });
    }
    const share = pool.sharing === null ? null : services.shares.askable(pool, ask.site, ask.nowMs);
    const other = share === null ? null : choose({ ...ask, share });
    if (other?.kind === 'exit') {
      const isNamed = other.why === 'pinned' || other.why === 'named';
      return { ...noExit(choice), askable: { pool, index: other.index, isNamed } };
    }
    if (choice.isPinFull === true)
      return noExit(share === null ? choice : { ...choice, retryAfterMs: HANDOVER_MS });
    // Dearer pools are for what is blocked, not for what has to wait a moment.
    if (choice.isResting === true && route.escalate !== null) return noExit(choice);
    if (isSooner(choice, soonest)) soonest = choice;
  }
  return soonest.isImpossible === true ? impossible(job, filter) : noExit(soonest);
}

/** A wait is better than none, and none than what no exit will ever give. */
function isSooner(choice: None, soonest: None): boolean {
  if (soonest.isImpossible === true) return true;
  if (choice.isImpossible === true) return false;
  return soonest.retryAfterMs === null || (choice.retryAfterMs ?? Infinity) < soonest.retryAfterMs;
}

/** What choosing in one pool goes by. */
export function askFor(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
  where: { readonly pool: Pool; readonly pinned: string | null; readonly filter: ExitFilter },
): ChooseAsk {
  const { pool, pinned, filter } = where;
  const { site } = job.ask.context.target;
  const nowMs = course.nowMs ?? services.clock.nowMs();
  return {
    pool,
    pinned,
    filter,
    view: services.ledger,
    cursors: services.ledger.cursors,
    random: services.random,
    site,
    pace: services.paces.view(pool, site, nowMs),
    share: pool.sharing === null ? null : services.shares.view(pool, site, nowMs),
    nowMs,
    avoid: course.avoid,
    neighbours: course.neighbours,
    // A crawler that computes the exit itself knows no more than the id that it gave.
    sessionKey: pool.ketama === null ? (course.pin?.key ?? null) : (course.pin?.ask.id ?? null),
    hashKey: hashKeyOf(pool, job),
  };
}

/** Tells that there is none, and when there will be. */
export function noExit(choice: None): NoExit {
  const failure = { code: 'no_upstream', detail: `No exit can be used: ${choice.reason}.` } as const;
  const { retryAfterMs } = choice;
  const isFull = choice.isPinFull === true;
  const isResting = choice.isResting === true;
  const timed = retryAfterMs === null ? failure : { ...failure, retryAfterMs };
  return { kind: 'none', isFull, isResting, failure: timed };
}

/** What the strategy `hash` of this pool goes by; a session has its own key. */
function hashKeyOf(pool: Pool, job: Job): string | null {
  if (pool.strategy !== 'hash') return null;
  const { target, client } = job.ask.context;
  switch (pool.hashOn) {
    case 'session':
      return null;
    case 'site':
      return target.site;
    case 'client':
      return client;
    case 'url':
      return `${target.scheme}://${target.hostPort}${target.path}`;
  }
}

/** The exit with the login that this use of it asks for. */
export function exitOf(
  pool: Pool,
  index: number,
  use: { readonly sessionKey: string | null; readonly filter: ExitFilter },
): Exit {
  const upstream = pool.upstreams[index];
  const slot = pool.slots[index];
  if (upstream === undefined || slot === undefined)
    throw new Error('an exit was chosen that the pool does not have');
  const idleKey = `${upstream.id} ${use.sessionKey ?? ''}`;
  if (upstream.template === undefined) return { kind: 'exit', pool, upstream, slot, idleKey, lease: null };
  const { login, key } = upstream.template.login(use.filter, use.sessionKey);
  const own = { ...upstream, login };
  return { kind: 'exit', pool, upstream: own, slot, idleKey: `${idleKey} ${key}`, lease: null };
}

/** No exit, and no wait that could help. */
export const never = { kind: 'none', isFull: false, isResting: false } as const;

function tooDear({ ask }: Job): NoExit {
  const { label, costCeiling } = ask.route;
  const detail =
    `A request by route ${label} may cost ${costCeiling}, and each of its pools costs more per request. ` +
    'Coming back later does not help: raise cost_ceiling of the route, or give it a cheaper pool.';
  return { ...never, failure: { code: 'no_upstream', detail, isRetryable: false } };
}

/** Nothing that the route's pools have is what the request asks for. */
function impossible({ ask }: Job, filter: ExitFilter): NoExit {
  const { label, pools } = ask.route;
  const { pool } = ask.context.controls.filter;
  const wishes = Object.entries({ pool, ...filter })
    .map(([name, value]) => [name, String(value ?? '')] as const)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name} ${value}`);
  const detail =
    `No exit of route ${label} (pools: ${pools.join(', ')}) is what the request asks for: ${wishes.join(', ')}. ` +
    'Coming back later does not help: ask for something else, or add such exits.';
  return { ...never, failure: { code: 'no_upstream', detail, isRetryable: false } };
}

function noBudget({ clock }: GatewayServices): NoExit {
  const detail = 'The budget of the pools of the route is spent for today; it is new at midnight, UTC.';
  const retryAfterMs = untilTomorrowMs(clock.wallMs());
  return { ...never, failure: { code: 'no_upstream', detail, retryAfterMs } };
}

function sessionLost(): NoExit {
  const detail = 'The exit of the session is set aside, gone, or failed, and the session is hard.';
  return { ...never, failure: { code: 'session_lost', detail } };
}
