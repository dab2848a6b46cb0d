/** Finds the exit for the next try: the session's own, or by strategy; waits a bounded time for one to come free. */
import type { Failure } from '../core/errors.js';
import type { SessionPinned } from '../core/events.js';
import type { Abandonment } from '../open/dial.js';
import { untilTomorrowMs } from '../outcome/spending.js';
import { withRouteFilter } from '../routing/route.js';
import { choose, type Ask as ChooseAsk, type Choice, type ExitFilter } from '../upstreams/choose.js';
import { chooseLeastBad } from '../upstreams/least-bad.js';
import type { Neighbours } from '../upstreams/neighbours.js';
import type { Pool } from '../upstreams/pool.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { Job } from './attempt.js';
import type { GatewayServices } from './services.js';
import type { SessionPin } from './session-pin.js';
import { isBroke, poolsFor } from './tiers.js';

/** An exit for one try. */
export interface Exit {
  readonly kind: 'exit';
  readonly pool: Pool;
  readonly upstream: Upstream;
  /** Its number in the ledger. */
  readonly slot: number;
  /** Under which key its connections may be kept and reused. */
  readonly idleKey: string;
}

/** No exit, and what to tell the client. */
export interface NoExit {
  readonly kind: 'none';
  readonly failure: Failure;
  /** Whether the session's exit would do but for its slots: it waits, and does not move. */
  readonly isFull: boolean;
  /** Whether there are exits that only have to rest. */
  readonly isResting: boolean;
}

type None = Extract<Choice, { kind: 'none' }>;

/** What picking needs of the exchange's course. */
export interface PickCourse {
  readonly deadlineMs: number;
  readonly avoid: ReadonlySet<string>;
  /** Places that were tried; null before the first retry. */
  readonly neighbours: Neighbours | null;
  readonly abandonment: Abandonment;
  readonly pin: SessionPin | null;
  /** Only so many pools of the route; all when not given. */
  readonly poolCount?: number;
}

/**
 * The exit of a session that stays, or of a request without session, if one is free and nobody waits for it: the usual
 * cases, without a wait.
 */
export function pickAtOnce(services: GatewayServices, job: Job, course: PickCourse): Exit | null {
  if (services.waiting.size > 0 && services.waiting.has(lineOf(job))) return null;
  return pickFree(services, job, course);
}

function pickFree(services: GatewayServices, job: Job, course: PickCourse): Exit | null {
  const { pin } = course;
  const pinned = pin?.look() ?? null;
  if (pin !== null && pinned === null) return null;
  const found = chooseFrom(services, job, course, pinned);
  if (found.kind === 'none' || (pin !== null && found.upstream.id !== pinned)) return null;
  job.trace.generation = pin?.pin?.generation ?? null;
  return found;
}

/**
 * An exit for one more try, if one is free now, or has only to rest: then it is waited for, before others of the client.
 * A session moves to it.
 */
export async function pickAnother(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
): Promise<Exit | null> {
  const found = pickFree(services, job, course) ?? (await pickNow(services, job, course));
  if (found.kind === 'exit') return found;
  if (!found.isResting) return null;
  const next = await pickInTurn(services, job, course, found);
  return next.kind === 'exit' ? next : null;
}

/**
 * The exit for the first try, when its turn has come. Where none is free: as the route says (`on_exhausted`). Waits at most `timeouts.acquire` for
 * a pool, and not at all when waiting can't help.
 */
export async function pickExit(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
): Promise<Exit | NoExit> {
  const { onExhausted, pools } = job.ask.route;
  if (onExhausted === 'fail') return pickNow(services, job, course);
  if (onExhausted !== 'wait') {
    const found = await pickWaiting(services, job, course);
    return found.kind === 'none' && onExhausted === 'least_bad'
      ? leastBad(services, job, course, found)
      : found;
  }
  let found = noExit({ kind: 'none', retryAfterMs: null, reason: 'no pool of the route matches' }) as
    Exit | NoExit;
  for (let count = 1; count <= pools.length && found.kind === 'none'; count++)
    found = await pickWaiting(services, job, { ...course, poolCount: count });
  return found;
}

/** Every exit is set aside: the one that would be back first, at a trickle. A session stays where it is. */
function leastBad(services: GatewayServices, job: Job, course: PickCourse, none: NoExit): Exit | NoExit {
  if (course.pin !== null) return none;
  const { target, controls } = job.ask.context;
  const { site } = target;
  const filter = withRouteFilter(controls.filter, job.ask.route.filter);
  for (const pool of poolsFor(services, job, null)) {
    const index = chooseLeastBad(askFor(services, job, course, { pool, pinned: null, filter }));
    if (index < 0 || !services.trickle.take(`${pool.name} ${site}`, services.clock.nowMs())) continue;
    job.trace.why = 'least_bad';
    return exitOf(pool, index, { sessionKey: null, filter });
  }
  return none;
}

async function pickWaiting(services: GatewayServices, job: Job, course: PickCourse): Promise<Exit | NoExit> {
  if (!services.waiting.has(lineOf(job))) {
    const found = await pickNow(services, job, course);
    return found.kind === 'exit' ? found : pickInTurn(services, job, course, found);
  }
  const pinned = course.pin === null ? null : await course.pin.exit();
  const found = chooseFrom(services, job, course, pinned);
  return pickInTurn(services, job, course, found.kind === 'exit' ? null : found);
}

/** @param known why there is none now; null: there is one, but others wait for it */
async function pickInTurn(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
  known: NoExit | null,
): Promise<Exit | NoExit> {
  const nowMs = services.clock.nowMs();
  const giveUpMs = Math.min(nowMs + job.ask.rules.runtime.timeouts.acquireMs, course.deadlineMs);
  const waitMs = known === null ? 0 : (known.failure.retryAfterMs ?? Infinity);
  if (known !== null && known.failure.code === 'session_lost') return known;
  if (waitMs > giveUpMs - nowMs || course.abandonment.isAbandoned) return known ?? othersFirst;
  const pinned = course.pin?.look() ?? null;
  if (!services.admission.mayWait()) return known ?? othersFirst;
  services.admission.waits(1);
  const exit = await services.waiting.wait(
    lineOf(job),
    {
      client: job.ask.context.client,
      need: needOf(job, pinned),
      giveUpMs,
      isAgain: job.trace.attempts > 0,
      look: () => {
        const found = chooseFrom(services, job, course, pinned);
        if (found.kind === 'exit') return { kind: 'found', found };
        return { kind: 'later', afterMs: found.failure.retryAfterMs ?? Infinity };
      },
      onGone: (leave) => course.abandonment.listen(leave),
    },
    waitMs,
  );
  services.admission.waits(-1);
  if (exit === null) {
    const last = chooseFrom(services, job, course, pinned);
    return last.kind === 'none' ? last : othersFirst;
  }
  // A session moves to the exit that came free, and the store has the last word.
  return course.pin === null ? exit : pickNow(services, job, course);
}

/** What only some exits can give: the session's own, or those that a filter leaves. */
function needOf({ ask }: Job, pinned: string | null): string {
  const { country, city, asn, tags, upstream } = ask.context.controls.filter;
  return [pinned, upstream, country, city, asn, ...tags].filter((each) => each !== null).join(' ');
}

/** Who competes for the same exits. */
function lineOf({ ask }: Job): string {
  return `${ask.route.label}\n${ask.context.target.site}`;
}

async function pickNow(services: GatewayServices, job: Job, course: PickCourse): Promise<Exit | NoExit> {
  const { pin } = course;
  const pinned = pin === null ? null : await pin.exit();
  const found = chooseFrom(services, job, course, pinned);
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
  return chooseFrom(services, job, course, holds);
}

function reasonOfMove(job: Job, course: PickCourse, pinned: string): SessionPinned['reason'] {
  if (course.avoid.has(pinned)) return 'exit_failed';
  const { pools } = job.ask.rules.runtime;
  return job.ask.route.pools.some((name) => pools.get(name)?.indexById.has(pinned) === true)
    ? 'exit_banned'
    : 'exit_gone';
}

/** The first pool of the route that has an exit; for a session, the pool of its exit before all others. */
function chooseFrom(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
  pinned: string | null,
): Exit | NoExit {
  const { route, context } = job.ask;
  const filter = withRouteFilter(context.controls.filter, route.filter);
  const all = poolsFor(services, job, pinned);
  const pools = course.poolCount === undefined ? all : all.slice(0, course.poolCount);
  if (all.length === 0 && isBroke(services, job)) return noBudget(services);
  let soonest: None = { kind: 'none', retryAfterMs: null, reason: 'no pool of the route matches' };
  for (const pool of pools) {
    const choice = chooseIn(services, job, course, { pool, pinned, filter });
    if (choice.kind === 'exit') {
      job.trace.why = choice.why;
      return exitOf(pool, choice.index, { sessionKey: course.pin?.key ?? null, filter });
    }
    if (choice.isPinFull === true) return noExit(choice);
    // Dearer pools are for what is blocked, not for what has to wait a moment.
    if (choice.isResting === true && route.escalate !== null) return noExit(choice);
    if (soonest.retryAfterMs === null || (choice.retryAfterMs ?? Infinity) < soonest.retryAfterMs)
      soonest = choice;
  }
  return noExit(soonest);
}

function chooseIn(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
  where: { readonly pool: Pool; readonly pinned: string | null; readonly filter: ExitFilter },
): Choice {
  return choose(askFor(services, job, course, where));
}

function askFor(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
  where: { readonly pool: Pool; readonly pinned: string | null; readonly filter: ExitFilter },
): ChooseAsk {
  const { pool } = where;
  const { site } = job.ask.context.target;
  const nowMs = services.clock.nowMs();
  return {
    ...where,
    view: services.ledger,
    cursors: services.ledger.cursors,
    random: services.random,
    site,
    pace: services.paces.view(pool, site, nowMs),
    nowMs,
    avoid: course.avoid,
    neighbours: course.neighbours,
    // A crawler that computes the exit itself knows no more than the id that it gave.
    sessionKey: pool.ketama === null ? (course.pin?.key ?? null) : (course.pin?.ask.id ?? null),
    hashKey: hashKeyOf(pool, job),
  };
}

function noExit(choice: None): NoExit {
  const failure = { code: 'no_upstream', detail: `No exit can be used: ${choice.reason}.` } as const;
  const { retryAfterMs } = choice;
  const isFull = choice.isPinFull === true;
  const isResting = choice.isResting === true;
  return {
    kind: 'none',
    isFull,
    isResting,
    failure: retryAfterMs === null ? failure : { ...failure, retryAfterMs },
  };
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
function exitOf(
  pool: Pool,
  index: number,
  use: { readonly sessionKey: string | null; readonly filter: ExitFilter },
): Exit {
  const upstream = pool.upstreams[index];
  const slot = pool.slots[index];
  if (upstream === undefined || slot === undefined)
    throw new Error('an exit was chosen that the pool does not have');
  const idleKey = `${upstream.id} ${use.sessionKey ?? ''}`;
  if (upstream.template === undefined) return { kind: 'exit', pool, upstream, slot, idleKey };
  const { login, key } = upstream.template.login(use.filter, use.sessionKey);
  return { kind: 'exit', pool, upstream: { ...upstream, login }, slot, idleKey: `${idleKey} ${key}` };
}

const never = { kind: 'none', isFull: false, isResting: false } as const;

/** Those before it have waited as long. */
const othersFirst: NoExit = {
  ...never,
  failure: { code: 'no_upstream', detail: 'Others wait for an exit and are first.', retryAfterMs: 1000 },
};

function noBudget({ clock }: GatewayServices): NoExit {
  const detail = 'The budget of every pool of the route is spent, or the request may not cost as much.';
  return {
    ...never,
    failure: { code: 'no_upstream', detail, retryAfterMs: untilTomorrowMs(clock.wallMs()) },
  };
}

function sessionLost(): NoExit {
  const detail = 'The exit of the session is set aside, gone, or failed, and the session is hard.';
  return { ...never, failure: { code: 'session_lost', detail } };
}
