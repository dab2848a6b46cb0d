/** The rule lab outside of a gateway. */
import type { Config } from '../config/config.js';
import { compiledRulesOf } from '../config/rules.js';
import { systemClock } from '../core/clock.js';
import { BodyJudge } from '../gateway/judge-body.js';
import { JudgeWorker } from '../gateway/judge-worker-client.js';
import type { RuleSpec } from '../outcome/rule.js';
import { RuleBook } from '../outcome/rules.js';
import { tryRules, type Lab, type LabRow } from './rule-lab.js';

/** A lab that can be used and closed. */
export interface OpenLab {
  try(sample: { readonly name: string; readonly bytes: Buffer }, host: string): Promise<LabRow>;
  close(): Promise<void>;
}

/** Opens a lab for rules that were checked. */
export function openLab(rules: readonly RuleSpec[], detection: Config['detection']): OpenLab {
  const judge = new BodyJudge(new JudgeWorker(systemClock));
  const book = new RuleBook(compiledRulesOf(rules), detection.look_at);
  const lab: Lab = { book, types: new Set(detection.types), judge };
  return { try: (sample, host) => tryRules(lab, sample, host), close: () => judge.close() };
}
