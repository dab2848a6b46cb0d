/** Tells which rules an attempt met, and lets the baseline learn from good answers. */
import type { HopAnswer } from '../open/channel.js';
import type { Delivery } from './attempt.js';
import { kindOf, type Inspected } from './inspect.js';
import type { Exit } from './pick-exit.js';
import type { GatewayServices } from './services.js';
import type { Trace } from './trace.js';
import type { Ask } from './understand.js';

/** Emits an event for each rule that was met, and one where a body could not be looked at. */
export function tellSights(
  services: GatewayServices,
  what: {
    readonly ask: Ask;
    readonly exit: Exit;
    readonly seen: Pick<Inspected, 'hits'> & Partial<Pick<Inspected, 'notInspected'>>;
  },
): void {
  const { hits, notInspected = null } = what.seen;
  if (hits.length === 0 && notInspected === null) return;
  const { context } = what.ask;
  const place = { requestId: context.requestId, upstream: what.exit.upstream.id, site: context.target.site };
  for (const { rule, field, found } of hits) {
    const { name, shadow } = rule.spec;
    services.emit({ type: 'rule_matched', ...place, rule: name, shadow, field, found });
  }
  if (notInspected !== null) services.emit({ type: 'body_not_inspected', ...place, reason: notInspected });
}

/** A delivery after which the baseline knows this page, if it was a good one and came whole. */
export async function learning(
  services: GatewayServices,
  page: {
    readonly ask: Ask;
    readonly answer: HopAnswer;
    readonly trace: Trace;
    readonly firstByteMs: number;
  },
  delivery: Promise<Delivery>,
): Promise<Delivery> {
  const done = await delivery;
  const { ask, answer, trace, firstByteMs } = page;
  const isGood = trace.verdict === 'ok' && answer.head.status === 200 && ask.context.method === 'GET';
  if (isGood && done.end === 'complete' && done.bytes !== undefined)
    services.baseline.learn(kindOf(ask, answer), { size: done.bytes.out, firstByteMs });
  return done;
}
