/** Finds the exit for the next try: the session's own, or by strategy; waits a bounded time for one to come free. */
import type { Failure } from '../core/errors.js';
import type { Abandonment } from '../open/dial.js';
import { choose, type Choice } from '../upstreams/choose.js';
import type { Pool } from '../upstreams/pool.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { Job } from './attempt.js';
import type { GatewayServices } from './services.js';
import type { SessionPin } from './session-pin.js';

/** How often a waiting request looks again. */
const LOOK_AGAIN_MS = 50;

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
}

/** What picking needs of the exchange's course. */
export interface PickCourse {
  readonly deadlineMs: number;
  readonly avoid: ReadonlySet<string>;
  readonly abandonment: Abandonment;
  readonly pin: SessionPin | null;
}

/** The exit of a request without session, if one is free: the usual case, without a wait. */
export function pickAtOnce(services: GatewayServices, job: Job, course: PickCourse): Exit | null {
  if (course.pin !== null) return null;
  const found = chooseFrom(services, job, course, null);
  return found.kind === 'exit' ? found : null;
}

/** An exit for one more try, if one is free now; a session moves to it. */
export async function pickAnother(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
): Promise<Exit | null> {
  const found = pickAtOnce(services, job, course) ?? (await pickNow(services, job, course));
  return found.kind === 'exit' ? found : null;
}

/** The exit for the first try. Waits at most `timeouts.acquire`, and not at all when waiting can't help. */
export async function pickExit(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
): Promise<Exit | NoExit> {
  const { rules } = job.ask;
  const giveUpMs = Math.min(services.clock.nowMs() + rules.runtime.timeouts.acquireMs, course.deadlineMs);
  for (;;) {
    const found = await pickNow(services, job, course);
    if (found.kind === 'exit') return found;
    const leftMs = giveUpMs - services.clock.nowMs();
    const waitMs = found.failure.retryAfterMs ?? Infinity;
    if (found.failure.code === 'session_lost' || waitMs > leftMs || course.abandonment.isAbandoned)
      return found;
    await pause(services, course.abandonment, Math.min(leftMs, Math.max(waitMs, LOOK_AGAIN_MS)));
  }
}

async function pickNow(services: GatewayServices, job: Job, course: PickCourse): Promise<Exit | NoExit> {
  const { pin } = course;
  const pinned = pin === null ? null : await pin.exit();
  const found = chooseFrom(services, job, course, pinned);
  if (pin === null || (found.kind === 'none' && pinned === null)) return found;
  job.trace.generation = pin.pin?.generation ?? null;
  const isKept = found.kind === 'exit' && found.upstream.id === pinned;
  if (isKept) return found;
  if (pinned !== null && pin.ask.mode === 'hard') return sessionLost();
  if (found.kind === 'none') return found;
  const why = course.avoid.has(pinned ?? '') ? 'exit_failed' : 'exit_banned';
  const holds = await pin.settle(found.upstream.id, why);
  job.trace.generation = pin.pin?.generation ?? null;
  if (holds === found.upstream.id) return found;
  return chooseFrom(services, job, course, holds);
}

/** The first pool of the route that has an exit. */
function chooseFrom(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
  pinned: string | null,
): Exit | NoExit {
  const { route, rules, context } = job.ask;
  const { filter } = context.controls;
  let soonest: Choice & { kind: 'none' } = {
    kind: 'none',
    retryAfterMs: null,
    reason: 'no pool of the route matches',
  };
  for (const name of route.pools) {
    const pool = rules.runtime.pools.get(name);
    if (pool === undefined || (filter.pool !== null && filter.pool !== name)) continue;
    const choice = choose({
      pool,
      view: services.ledger,
      cursors: services.ledger.cursors,
      nowMs: services.clock.nowMs(),
      random: services.random,
      site: context.target.site,
      filter,
      avoid: course.avoid,
      pinned,
      sessionKey: course.pin?.key ?? null,
    });
    if (choice.kind === 'exit') {
      job.trace.why = choice.why;
      return exitOf(pool, choice.index, course.pin?.key ?? '');
    }
    if (soonest.retryAfterMs === null || (choice.retryAfterMs ?? Infinity) < soonest.retryAfterMs)
      soonest = choice;
  }
  const detail = `No exit can be used: ${soonest.reason}.`;
  const failure = { code: 'no_upstream', detail } as const;
  return {
    kind: 'none',
    failure: soonest.retryAfterMs === null ? failure : { ...failure, retryAfterMs: soonest.retryAfterMs },
  };
}

function exitOf(pool: Pool, index: number, sessionKey: string): Exit {
  const upstream = pool.upstreams[index];
  const slot = pool.slots[index];
  if (upstream === undefined || slot === undefined)
    throw new Error('an exit was chosen that the pool does not have');
  return { kind: 'exit', pool, upstream, slot, idleKey: `${upstream.id} ${sessionKey}` };
}

function sessionLost(): NoExit {
  const detail = 'The exit of the session is set aside, gone, or failed, and the session is hard.';
  return { kind: 'none', failure: { code: 'session_lost', detail } };
}

/** Waits, but no longer than the client does. */
function pause(services: GatewayServices, abandonment: Abandonment, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      abandonment.listen(null);
      deadline.cancel();
      resolve();
    };
    const deadline = services.wheel.arm(ms, done);
    abandonment.listen(done);
  });
}
