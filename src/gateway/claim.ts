/**
 * Between choosing an exit and using it: a leased one may have ceased to be ours, while somebody waited for a session or
 * a place in the line. Then another is chosen. Nothing goes out by an exit that isn't ours.
 */
import type { Job } from './attempt.js';
import { pickFirst, type Course } from './course.js';
import { never, type Exit, type NoExit } from './pick-exit.js';
import type { GatewayServices } from './services.js';

/** So often another is chosen; whoever loses as many leases in a row is better off waiting. */
const MOST_CHOICES = 4;

/** Tells that each exit was lost before it could be used. */
export const allLost: NoExit = {
  ...never,
  failure: {
    code: 'no_upstream',
    detail: 'Each exit that was chosen was handed over to another gateway before it could be used.',
    retryAfterMs: 1000,
  },
};

/** The exit, taken up; null where there is none, or where it isn't ours any more. What it holds is given back by `shares.end(exit.lease)`. */
export function claim(services: GatewayServices, exit: Exit | null): Exit | null {
  if (exit === null) return null;
  const lease = services.shares.begin(exit.pool, exit.upstream.id);
  if (lease === 'lost') return null;
  exit.lease = lease;
  return exit;
}

/** The exit for the first try, taken up; or why there is none. */
export function takenFirst(services: GatewayServices, job: Job, course: Course): Promise<Exit | NoExit> {
  return claimOne(services, () => pickFirst(services, job, course), allLost);
}

/** Chooses until an exit is taken up, or there is none. @param none what it comes to when each was lost */
export async function claimOne<None extends NoExit | null>(
  services: GatewayServices,
  pick: () => Promise<Exit | None>,
  none: None,
): Promise<Exit | None> {
  for (let choices = 0; choices < MOST_CHOICES; choices++) {
    const found = await pick();
    if (found?.kind !== 'exit' || claim(services, found) !== null) return found;
  }
  return none;
}
