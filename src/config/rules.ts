/** Rules as the runtime wants them: those of the file, then the shipped ones that are on. */
import { compileRules, type CompiledRules } from '../outcome/compile-rules.js';
import { fingerprints } from '../outcome/fingerprints.js';
import type { Conditions, RuleSpec } from '../outcome/rule.js';
import type { Finding } from './problems.js';
import type { Settings } from './schema.js';

type RuleEntry = Settings['rules'][number];

/** One rule of the file. */
function specOf(entry: RuleEntry): RuleSpec {
  const { name, then, scope, shadow } = entry;
  // What is left out in the file is not there at all, and zod types it as undefined.
  const when = entry.when as readonly Conditions[];
  return { name, site: (entry.site ?? []).map((site) => site.toLowerCase()), when, then, scope, shadow };
}

/** All rules in their order. An own rule of the name of a shipped one takes its place. */
export function rulesOf(settings: Pick<Settings, 'rules' | 'detection'>): RuleSpec[] {
  const { fingerprints: wanted } = settings.detection;
  const own = settings.rules.map(specOf);
  const named = new Set(own.map(({ name }) => name));
  const shipped = fingerprints.filter(({ name }) => {
    const isOn = wanted === true || (wanted !== false && wanted.includes(name));
    return isOn && !named.has(name);
  });
  return [...own, ...shipped];
}

/** What keeps the rules of the file from being compiled; each names its rule. */
export function ruleFindings(settings: Pick<Settings, 'rules' | 'detection'>): Finding[] {
  const result = compileRules(rulesOf(settings));
  if (result.kind === 'rules') return [];
  return result.problems.map(({ rule, index, path, message }) => ({
    path: ['rules', index, ...path],
    message: `rule ${rule}: ${message}`,
  }));
}

/** The compiled rules of a configuration that was checked. @throws when it wasn't */
export function compiledRulesOf(rules: readonly RuleSpec[]): CompiledRules {
  const result = compileRules(rules);
  if (result.kind === 'rules') return result.compiled;
  throw new Error('rules were compiled before they were checked');
}
