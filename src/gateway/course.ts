/** What one exchange remembers from try to try, how it begins, and how it finds its first exit. */
import { Abandonment } from '../open/dial.js';
import type { Neighbours } from '../upstreams/neighbours.js';
import type { Job } from './attempt.js';
import type { Claim } from './fleet-turn.js';
import type { HeldAnswer } from './held-answer.js';
import type { Exit, NoExit } from './pick-exit.js';
import { pickExit } from './pick-in-turn.js';
import type { Suspect } from './record.js';
import type { GatewayServices } from './services.js';
import { SessionPin } from './session-pin.js';
import type { Silence } from './silences.js';

/** The memory of one exchange. */
export interface Course {
  readonly deadlineMs: number;
  readonly retriesAllowed: number;
  avoid: ReadonlySet<string>;
  neighbours: Neighbours | null;
  readonly abandonment: Abandonment;
  readonly pin: SessionPin | null;
  /** The exit to be tried once more, of a session that must not move for one fault. */
  again: Exit | null;
  previousSuspectStatus: number | null;
  /** Answers that looked like a block by their status alone. */
  suspects: readonly Suspect[];
  /** Silent tries, until it is known whether the site can be reached. */
  silences: readonly Silence[];
  /** What other gateways are kept from while the next try is made; null where nobody had to be asked. */
  claim: Claim | null;
  /** No exit is waited for longer than until then. */
  acquireByMs: number;
  /** The best answer so far; null before the first retry. */
  held: HeldAnswer | null;
}

const NO_SUSPECTS: readonly Suspect[] = [];
const NO_SILENCES: readonly Silence[] = [];

/** The course of an exchange that begins. */
export function begin(services: GatewayServices, job: Job): Course {
  const { ask, exchange } = job;
  const { controls } = ask.context;
  const timeoutMs = Math.min(ask.route.timeoutMs, controls.timeoutMs ?? Infinity);
  const abandonment = new Abandonment();
  exchange.onGone = () => abandonment.abandon();
  services.transportBudget.request(exchange.startedMs);
  return {
    deadlineMs: exchange.startedMs + timeoutMs,
    retriesAllowed: Math.min(ask.route.retries, controls.retries ?? Infinity),
    avoid: services.reports.avoidedBy(ask.context.client, ask.context.target.site, exchange.startedMs),
    neighbours: null,
    abandonment,
    pin: controls.session === null ? null : new SessionPin(services, ask.context.client, controls.session),
    again: null,
    previousSuspectStatus: null,
    suspects: NO_SUSPECTS,
    silences: NO_SILENCES,
    claim: null,
    acquireByMs: Infinity,
    held: null,
  };
}

/** Exits that the client itself has reported come back in where nobody else is left. */
export async function pickFirst(services: GatewayServices, job: Job, course: Course): Promise<Exit | NoExit> {
  const found = await pickExit(services, job, course);
  if (found.kind === 'exit' || course.avoid.size === 0 || found.failure.code === 'session_lost') return found;
  course.avoid = new Set();
  return pickExit(services, job, course);
}
