/** Facts and verdicts for tests. */
import { Fields } from '../../src/http1/fields.js';
import { classify, type ClassifyContext, type Verdict } from '../../src/outcome/classify.js';
import type { AnswerFacts, FaultFacts, FaultKind, Phase } from '../../src/outcome/facts.js';

export const usualContext: ClassifyContext = {
  statuses: { suspect: [403], throttled: [429], unclear: [503] },
  detect: true,
  upstreamHasLogin: true,
  finding: null,
};

export function answer(
  status: number,
  fields: readonly (readonly [string, string])[] = [],
  refusedTunnel = false,
): AnswerFacts {
  return { kind: 'answer', status, fields: Fields.of(...fields), refusedTunnel, requestSent: !refusedTunnel };
}

export function refusal(status: number, ...fields: (readonly [string, string])[]): AnswerFacts {
  return answer(status, fields, true);
}

export function fault(kind: FaultKind, phase: Phase = 'dial', requestSent = false): FaultFacts {
  return { kind: 'fault', phase, fault: kind, detail: 'what happened', requestSent };
}

export function verdictOf(facts: AnswerFacts | FaultFacts, context: Partial<ClassifyContext> = {}): Verdict {
  return classify(facts, { ...usualContext, ...context });
}
