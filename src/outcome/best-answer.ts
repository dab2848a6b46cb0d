/**
 * Which of several answers a client gets when no try brought a good page: the better one, by a fixed order. An answer
 * that is kept for that is not read, so that it costs a connection and no memory.
 */
import type { Verdict } from './classify.js';
import type { VerdictName } from './facts.js';

/** From best to worst; what is not here has no answer to deliver. */
export const answerOrder: readonly VerdictName[] = [
  'ok',
  'target_failed',
  'suspect',
  'throttled',
  'blocked',
  'unclear',
];

/** Whether an answer of this verdict can go to the client. */
export function isDeliverable(verdict: Verdict): boolean {
  return verdict.failure === null && answerOrder.includes(verdict.name);
}

/** Whether the earlier answer is better than what came last; between equals the last one counts. */
export function isBetter(earlier: Verdict, last: Verdict): boolean {
  if (!isDeliverable(last)) return isDeliverable(earlier);
  return isDeliverable(earlier) && answerOrder.indexOf(earlier.name) < answerOrder.indexOf(last.name);
}
