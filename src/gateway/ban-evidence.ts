/** What is kept of a verdict that set an exit aside, for whoever asks why. */
import type { BanEvidence } from '../core/events.js';
import type { Verdict } from '../outcome/classify.js';

/** The evidence behind a verdict. @param status of the answer; null where there was none */
export function evidenceOf(verdict: Verdict, requestId: string, status: number | null): BanEvidence {
  const { rule } = verdict;
  if (rule !== null) return { requestId, rule: rule.name, ...rule.evidence };
  const field = verdict.health === null && status !== null ? 'status' : verdict.reason;
  return plainEvidence(requestId, field, status);
}

/** Evidence without a rule. */
export function plainEvidence(
  requestId: string | null,
  field: string,
  status: number | null = null,
): BanEvidence {
  return { requestId, status, rule: null, field, found: '', bodyHash: null, bodyStart: null };
}
