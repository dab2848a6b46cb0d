/** Waiting for an exit when its turn has come: first tries as the route says, further tries before others of the client. */
import { withRouteFilter } from '../routing/route.js';
import { chooseLeastBad } from '../upstreams/least-bad.js';
import type { Job } from './attempt.js';
import {
  askFor,
  chooseFrom,
  exitOf,
  lineOf,
  never,
  noExit,
  pickFree,
  pickNow,
  type Askable,
  type Exit,
  type NoExit,
  type PickCourse,
} from './pick-exit.js';
import type { GatewayServices } from './services.js';
import { poolsFor } from './tiers.js';

/** Those before it have waited as long. */
const othersFirst: NoExit = {
  ...never,
  failure: { code: 'no_upstream', detail: 'Others wait for an exit and are first.', retryAfterMs: 1000 },
};

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
 * The exit for the first try, when its turn has come. Where none is free: as the route says (`on_exhausted`). Waits at
 * most `timeouts.acquire` for a pool, and not at all when waiting can't help.
 */
export async function pickExit(
  services: GatewayServices,
  job: Job,
  course: PickCourse,
): Promise<Exit | NoExit> {
  const { onExhausted } = job.ask.route;
  if (onExhausted === 'fail') return pickNow(services, job, course);
  if (onExhausted !== 'wait') {
    const found = await pickWaiting(services, job, course);
    return found.kind === 'none' && onExhausted === 'least_bad'
      ? leastBad(services, job, course, found)
      : found;
  }
  let found = noExit({ kind: 'none', retryAfterMs: null, reason: 'no pool of the route matches' }) as
    Exit | NoExit;
  // Each pool that may serve is waited for once, however many others the route has.
  const most = Math.max(1, poolsFor(services, job, null).length);
  for (let count = 1; count <= most && found.kind === 'none'; count++)
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
  const { acquireMs } = job.ask.rules.runtime.timeouts;
  const giveUpMs = Math.min(nowMs + acquireMs, course.deadlineMs, course.acquireByMs);
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
      look: (lookMs) => {
        const found = chooseFrom(services, job, { ...course, nowMs: lookMs }, pinned);
        if (found.kind === 'exit') return { kind: 'found', found };
        const { askable } = found;
        if (askable !== undefined) void askAndLook(services, job, askable);
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
  if (course.pin === null) return exit;
  // A session moves to the exit that came free, and the store has the last word; it may be another's again by then.
  const found = await pickNow(services, job, course);
  if (found.kind === 'exit' || services.clock.nowMs() >= giveUpMs) return found;
  return pickInTurn(services, job, { ...course, acquireByMs: giveUpMs }, found);
}

/** Asks for an exit that another gateway may have; those who wait look as soon as it is here. */
async function askAndLook(services: GatewayServices, job: Job, { pool, index }: Askable): Promise<void> {
  await services.shares.ask(pool, index, true);
  services.waiting.freed(lineOf(job));
}

/** What only some exits can give: the session's own, or those that a filter leaves. */
function needOf({ ask }: Job, pinned: string | null): string {
  const { country, city, asn, tags, upstream } = ask.context.controls.filter;
  return [pinned, upstream, country, city, asn, ...tags].filter((each) => each !== null).join(' ');
}
