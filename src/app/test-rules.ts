/** The rule lab behind the admin API: with the rules in force, or with others. */
import type { RuleTest, RuleTestResult, RuleTestRow } from '../admin/services.js';
import { formatProblem } from '../config/problems.js';
import { loadRules } from '../config/rule-file.js';
import type { GatewayServices } from '../gateway/services.js';
import { openLab, type OpenLab } from './open-lab.js';
import { tryRules } from './rule-lab.js';

/** Tries rules on stored answers. Never rejects for what is in them. */
export async function testRules(services: GatewayServices, test: RuleTest): Promise<RuleTestResult> {
  const lab = labFor(services, test.rules);
  if ('problems' in lab) return { kind: 'problems', problems: lab.problems };
  const rows: RuleTestRow[] = [];
  for (const sample of test.samples) rows.push(await lab.try(sample, test.host.toLowerCase()));
  await lab.close();
  return { kind: 'rows', rows };
}

/** Other rules get a judge of their own, so that they take nothing from the requests under way. */
function labFor(services: GatewayServices, rules: string | null): OpenLab | { readonly problems: string[] } {
  if (rules === null) {
    const { book, types } = services.rules().runtime.detection;
    const inForce = { book, types, judge: services.judge };
    return { try: (sample, host) => tryRules(inForce, sample, host), close: () => Promise.resolve() };
  }
  const loaded = loadRules(rules);
  if (loaded.kind === 'rules') return openLab(loaded.rules, loaded.detection);
  return { problems: loaded.problems.map((problem) => formatProblem(problem, null)) };
}
