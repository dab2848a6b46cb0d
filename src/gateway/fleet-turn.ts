/**
 * What only one request may do at a time: use an exit that rests from a site between two uses, and try an exit whose ban has
 * ended. Such an exit is claimed at the moment of its use: in this gateway, since others may have picked it too, and with all
 * others where they use it as well. One that another has is passed over. Where neither applies it costs nothing, and while
 * the shared state is away each gateway goes by itself.
 */
import type { Visit } from '../exits/pool-at-site.js';
import { TRIAL_MS } from '../facts/ban.js';
import type { Turn, TurnAnswer, Turns } from '../state/ports.js';
import { isUsedByMany } from '../upstreams/sharing.js';
import type { Job } from './attempt.js';
import { takenFirst } from './claim.js';
import type { Course } from './course.js';
import type { Exit, NoExit } from './pick-exit.js';
import type { GatewayServices } from './services.js';

/** So many exits that others have are tried for one request, one after the other. */
const MOST_CLAIMS = 32;
/** What came of a trial is known to all after one poll; until then nobody else begins one. */
const TOLD_MS = 2500;
/** A trial of another gateway: so long nobody asks again whether it is over. */
const LOOK_AGAIN_MS = 1000;

/** An exit that this gateway may use, for one try. */
export interface Claim {
  readonly visit: Visit;
  /** The try is over: what was claimed is given back. */
  end(): void;
  /** There was no try. */
  drop(): void;
}

/** Whether the exit has to be claimed before it is used. */
export function mustClaim(services: GatewayServices, { ask }: Job, { pool, slot }: Exit): boolean {
  if (pool.pacing === null && services.turns === null) return false;
  const { site } = ask.context.target;
  const nowMs = services.clock.nowMs();
  if (pool.pacing !== null && spacingAt(services, pool, site) > 0) return true;
  return services.turns !== null && services.ledger.trialsDue(slot, site, nowMs).length > 0;
}

/**
 * The exit that was picked, once it is claimed; or another one. `course.claim` is what has to be ended.
 * What it holds of an exit that is passed over is given back.
 * @param again picks another and takes it up, in the time that is left
 */
export async function claimed<None extends NoExit | null>(
  services: GatewayServices,
  job: Job,
  course: Course,
  picked: { readonly exit: Exit; readonly none: None; again(): Promise<Exit | None> },
): Promise<Exit | None> {
  let exit: Exit | None = picked.exit;
  const byMs = services.clock.nowMs() + job.ask.rules.runtime.timeouts.acquireMs;
  for (let n = 0; isExit(exit) && mustClaim(services, job, exit); n++) {
    if (course.abandonment.isAbandoned) return exit;
    course.claim = n < MOST_CLAIMS ? await claim(services, job, course, exit) : null;
    if (course.claim !== null) return exit;
    services.shares.end(exit.lease);
    if (n === MOST_CLAIMS) return picked.none;
    course.acquireByMs = byMs;
    exit = await picked.again();
  }
  return exit;
}

/** The exit for the first try, once it is claimed; or why there is none. */
export function claimedFirst(
  services: GatewayServices,
  job: Job,
  course: Course,
  exit: Exit,
): Promise<Exit | NoExit> {
  const again = (): Promise<Exit | NoExit> => takenFirst(services, job, course);
  return claimed(services, job, course, { exit, none: othersHaveThem, again });
}

/** What is said when others were always faster. */
const othersHaveThem: NoExit = {
  kind: 'none',
  isFull: false,
  isResting: true,
  failure: {
    code: 'no_upstream',
    detail: 'Other gateways use every exit that was tried for this request.',
    retryAfterMs: LOOK_AGAIN_MS,
  },
};

function isExit(found: Exit | NoExit | null): found is Exit {
  return found?.kind === 'exit';
}

/**
 * Null: another request here was faster, since it was picked; or another gateway has it, which is noted, so that it is not
 * chosen again too soon.
 */
async function claim(services: GatewayServices, job: Job, course: Course, exit: Exit): Promise<Claim | null> {
  const { turns, ledger, paces, clock } = services;
  const { site } = job.ask.context.target;
  const nowMs = clock.nowMs();
  const { pool, slot } = exit;
  const pace = paces.view(pool, site, nowMs);
  if (pace !== null && pace.restedAtMs(slot) > nowMs) return null;
  const trials = turns === null ? [] : ledger.trialsDue(slot, site, nowMs);
  // From here on nobody else chooses it in this gateway.
  const visit = paces.begin(pool, slot, { site, nowMs });
  if (turns === null) return { visit, end: () => undefined, drop: () => visit.withdraw(null) };
  ledger.beginTrials(slot, site, nowMs);
  const made = new ClaimedExit({ services, turns, exit, site, visit });
  const spacingMs = pace?.spacingMs ?? 0;
  const holdMs = Math.max(0, course.deadlineMs - nowMs) + spacingMs;
  const isShared = spacingMs > 0 && isUsedByMany(pool.sharing);
  const rest = isShared ? await made.take('rest', `rest ${exit.upstream.id} ${site}`, holdMs) : null;
  if (rest !== null && rest.kind !== 'taken') {
    made.refuseRest(rest);
    return null;
  }
  for (const of of trials) {
    const answer = await made.take('trial', `trial ${exit.upstream.id} ${of ?? '*'}`, TRIAL_MS);
    if (answer.kind === 'taken') continue;
    made.refuseTrial();
    return null;
  }
  return made;
}

function spacingAt({ paces, clock }: GatewayServices, pool: Exit['pool'], site: string): number {
  return paces.view(pool, site, clock.nowMs())?.spacingMs ?? 0;
}

interface ClaimParts {
  readonly services: GatewayServices;
  readonly turns: Turns;
  readonly exit: Exit;
  readonly site: string;
  readonly visit: Visit;
}

/** A claim, from before it is granted. The rest of the exit begins when the answer has come, for all gateways. */
class ClaimedExit implements Claim {
  readonly visit: Visit;
  #rest: Turn | null = null;
  readonly #trials: Turn[] = [];

  constructor(private readonly parts: ClaimParts) {
    const { visit } = parts;
    this.visit = {
      answered: (nowMs) => {
        visit.answered(nowMs);
        this.#beginRest(nowMs);
      },
      learn: (said, latencyMs, nowMs) => visit.learn(said, latencyMs, nowMs),
      end: (nowMs) => {
        visit.end(nowMs);
        this.#beginRest(nowMs);
      },
      withdraw: (lastMs) => visit.withdraw(lastMs),
    };
  }

  async take(what: 'rest' | 'trial', key: string, holdMs: number): Promise<TurnAnswer> {
    const answer = await this.parts.turns.take(key, holdMs);
    if (answer.kind !== 'taken') return answer;
    if (what === 'rest') this.#rest = answer.turn;
    else this.#trials.push(answer.turn);
    return answer;
  }

  /** How it ended is told as a ban is; only without a word may another trial begin at once. */
  end(): void {
    const { services, turns, exit, site } = this.parts;
    const nowMs = services.clock.nowMs();
    this.visit.end(nowMs);
    const isOpen = services.ledger.trialsDue(exit.slot, site, nowMs).length > 0;
    for (const turn of this.#trials.splice(0)) void turns.end(turn, isOpen ? 0 : TOLD_MS);
  }

  drop(): void {
    const { services, exit, site, visit } = this.parts;
    visit.withdraw(null);
    services.ledger.leaveTrials(exit.slot, site, services.clock.nowMs());
    this.end();
  }

  /** Another gateway has it, or had it: the rest of it counts as begun when the other's did, or now at the earliest. */
  refuseRest(answer: Exclude<TurnAnswer, { kind: 'taken' }>): void {
    const { services, exit, site, visit } = this.parts;
    const nowMs = services.clock.nowMs();
    const goneMs = answer.kind === 'busy' ? 0 : spacingAt(services, exit.pool, site) - answer.waitMs;
    visit.withdraw(nowMs - goneMs);
    services.ledger.leaveTrials(exit.slot, site, nowMs);
  }

  refuseTrial(): void {
    const { services, turns, exit, site, visit } = this.parts;
    visit.withdraw(null);
    services.ledger.leaveTrials(exit.slot, site, services.clock.nowMs() + LOOK_AGAIN_MS);
    if (this.#rest !== null) void turns.end(this.#rest, 0);
    for (const turn of this.#trials.splice(0)) void turns.end(turn, 0);
  }

  #beginRest(nowMs: number): void {
    const { services, turns, exit, site } = this.parts;
    if (this.#rest === null) return;
    const restedMs = services.paces.view(exit.pool, site, nowMs)?.restedAtMs(exit.slot) ?? nowMs;
    // While another request of ours waits for its answer, which can't be where a rest is asked for, nobody knows.
    const restMs = Number.isFinite(restedMs) ? restedMs - nowMs : spacingAt(services, exit.pool, site);
    void turns.end(this.#rest, Math.max(0, restMs));
    this.#rest = null;
  }
}
