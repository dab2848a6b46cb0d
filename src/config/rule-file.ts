/** Rules alone: from the text of a configuration, or of a file that has nothing but `rules:` and `detection:`. */
import type { RuleSpec } from '../outcome/rule.js';
import { readDocument } from './document.js';
import { parseSettings } from './parse.js';
import { formatPath, type Finding, type Problem } from './problems.js';
import { ruleFindings, rulesOf } from './rules.js';
import type { Settings } from './schema.js';

/** Rules and how bodies are looked at, or what is wrong with them. */
export type LoadedRules =
  | { readonly kind: 'rules'; readonly rules: readonly RuleSpec[]; readonly detection: Settings['detection'] }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] };

/** Reads them. Everything else in the text is left alone. */
export function loadRules(text: string): LoadedRules {
  const document = readDocument(text);
  if (document.kind === 'problems') return document;
  const { rules, detection } = document.tree;
  const tree = { ...(rules !== undefined && { rules }), ...(detection !== undefined && { detection }) };
  const locate = ({ path, message }: Finding): Problem => ({
    path: formatPath(path),
    message,
    line: document.lineOf(path),
  });
  const parsed = parseSettings(tree);
  const findings = parsed.kind === 'findings' ? parsed.findings : ruleFindings(parsed.settings);
  if (parsed.kind === 'findings' || findings.length > 0)
    return { kind: 'problems', problems: findings.map(locate) };
  const { settings } = parsed;
  return { kind: 'rules', rules: rulesOf(settings), detection: settings.detection };
}
