/** From rules as they are written to a set that judges: every literal in one automaton, patterns and selectors compiled. */
import type { FaultKind } from '../core/fault.js';
import { compileHostPattern, type HostMatcher } from '../protocol/host-pattern.js';
import { compilePattern, compileSelector, requiredLiteral, type TextTest } from './engines.js';
import { Literals, MAX_LITERAL_BYTES } from './literals.js';
import type { Conditions, HeaderCondition, OfBaseline, RuleSpec } from './rule.js';

/** A test of a header, in lower case and with its pattern compiled. */
export interface CompiledHeader extends HeaderCondition {
  readonly pattern: TextTest | null;
}

/** One alternative of one rule, ready to be asked. */
export interface CompiledRule {
  readonly spec: RuleSpec;
  /** Place among all rules: the first that matches decides. */
  readonly order: number;
  readonly hosts: readonly HostMatcher[];
  readonly status: Conditions['status'] | null;
  readonly fields: readonly CompiledHeader[];
  readonly redirect: Conditions['redirect'] | null;
  readonly slowerThan: number | OfBaseline | null;
  readonly sizeBelow: number | OfBaseline | null;
  readonly faults: readonly FaultKind[] | null;
  /** Of each group one literal must be found. */
  readonly literals: readonly (readonly number[])[];
  readonly pattern: TextTest | null;
  readonly missingTexts: readonly number[];
  readonly missingSelector: ((html: string) => boolean) | null;
  /** How far into the body is looked; null: as far as usual. */
  readonly within: number | null;
  /** Whether the decoded bytes are looked at. */
  readonly needsBody: boolean;
  /** Whether it must be there to its end. */
  readonly needsWhole: boolean;
}

/** Rules that were compiled together. */
export interface CompiledRules {
  readonly specs: readonly RuleSpec[];
  readonly rules: readonly CompiledRule[];
  readonly literals: Literals | null;
  readonly texts: readonly string[];
}

/** Why a rule can't be used. `path` leads on from the rule: `when[0].body.matches`. */
export interface RuleProblem {
  readonly rule: string;
  readonly index: number;
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The set, or all that is wrong. */
export type CompileResult =
  | { readonly kind: 'rules'; readonly compiled: CompiledRules }
  | { readonly kind: 'problems'; readonly problems: readonly RuleProblem[] };

/** Deepest place in a body that a rule may look at, in bytes. */
export const DEEPEST_LOOK = 256 * 1024;

/** Numbers for texts, the same for the same. */
class TextTable {
  readonly texts: string[] = [];
  private readonly numbers = new Map<string, number>();

  of(text: string): number {
    const key = text.toLowerCase();
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, this.texts.length);
    return this.texts.push(text) - 1;
  }
}

type Complain = (path: readonly (string | number)[], message: string) => void;

/** Compiles rules. */
export function compileRules(specs: readonly RuleSpec[]): CompileResult {
  const table = new TextTable();
  const problems: RuleProblem[] = [];
  const seen = new Set<string>();
  const rules = specs.flatMap((spec, index) => {
    const complain: Complain = (path, message) => problems.push({ rule: spec.name, index, path, message });
    if (seen.has(spec.name)) complain(['name'], 'another rule has this name already');
    seen.add(spec.name);
    const hosts = hostsOf(spec, complain);
    checkActions(spec, complain);
    return spec.when.map((when, at) => {
      const place: Complain = (path, message) =>
        complain(spec.when.length === 1 ? ['when', ...path] : ['when', at, ...path], message);
      return { spec, order: index, hosts, ...compileConditions(when, table, place) };
    });
  });
  if (problems.length > 0) return { kind: 'problems', problems };
  const literals = table.texts.length === 0 ? null : new Literals(table.texts);
  return { kind: 'rules', compiled: { specs, rules, literals, texts: table.texts } };
}

function hostsOf({ site }: RuleSpec, complain: Complain): HostMatcher[] {
  return site.flatMap((pattern, index) => {
    const matches = compileHostPattern(pattern);
    if (matches === null) complain(['site', index], 'is neither a host nor a pattern such as *.shop.example');
    return matches ?? [];
  });
}

function checkActions({ then, shadow }: RuleSpec, complain: Complain): void {
  if (then.length === 0 && !shadow) complain(['then'], 'asks for nothing; leave it out for [ban, retry]');
  if (then.includes('deliver') && then.length > 1)
    complain(['then'], 'deliver means that the answer is good: nothing else goes with it');
  if (then.includes('retry_only') && then.some((action) => action !== 'retry_only' && action !== 'retry'))
    complain(['then'], 'retry_only holds nothing against the exit: nothing else goes with it');
}

type CompiledConditions = Omit<CompiledRule, 'spec' | 'order' | 'hosts'>;

function compileConditions(when: Conditions, table: TextTable, complain: Complain): CompiledConditions {
  const { body, missing } = when;
  if (Object.keys(when).length === 0) complain([], 'has no condition');
  if (when.connect_fault !== undefined && Object.keys(when).length > 1)
    complain(['connect_fault'], 'a fault has no answer: nothing else goes with it');
  const literals = [...anyOf(body?.contains), ...allOf(body?.contains_all)].map((group) =>
    group.map((text) => numberOf(text, table, (message) => complain(['body'], message))),
  );
  const pattern = body?.matches === undefined ? null : patternOf(body.matches, { table, literals }, complain);
  const missingTexts = (missing?.text ?? []).map((text) =>
    numberOf(text, table, (message) => complain(['missing', 'text'], message)),
  );
  const looksWhole = missing !== undefined || when.size_below !== undefined;
  return {
    // Whether a page is small or lacks something says little unless it claims to be one.
    status:
      when.status ??
      (looksWhole && body === undefined && when.header === undefined ? [{ from: 200, to: 200 }] : null),
    fields: (when.header ?? []).map((each, at) =>
      folded(each, (message) => complain(['header', at, 'matches'], message)),
    ),
    redirect: when.redirect ?? null,
    slowerThan: when.slower_than ?? null,
    sizeBelow: when.size_below ?? null,
    faults: when.connect_fault ?? null,
    literals,
    pattern,
    missingTexts,
    missingSelector: missing?.selector === undefined ? null : selectorOf(missing.selector, complain),
    within: body?.within ?? (missing === undefined ? null : DEEPEST_LOOK),
    needsBody: body !== undefined || missing !== undefined,
    needsWhole: missing !== undefined,
  };
}

const anyOf = (texts: readonly string[] = []): string[][] => (texts.length === 0 ? [] : [[...texts]]);
const allOf = (texts: readonly string[] = []): string[][] => texts.map((text) => [text]);

function folded(
  { name, is, contains, matches, present }: HeaderCondition,
  complain: (message: string) => void,
): CompiledHeader {
  const compiled = matches === undefined ? null : compilePattern(matches);
  if (compiled?.kind === 'bad') complain(compiled.why);
  const lower = (texts: readonly string[]): string[] => texts.map((text) => text.toLowerCase());
  return {
    name: name.toLowerCase(),
    ...(is !== undefined && { is: lower(is) }),
    ...(contains !== undefined && { contains: lower(contains) }),
    ...(matches !== undefined && { matches }),
    ...(present !== undefined && { present }),
    pattern: compiled?.kind === 'ok' ? compiled.value : null,
  };
}

function numberOf(text: string, table: TextTable, complain: (message: string) => void): number {
  const length = Buffer.byteLength(text);
  if (length > 0 && length <= MAX_LITERAL_BYTES) return table.of(text);
  complain(`a text to look for has 1 to ${MAX_LITERAL_BYTES} bytes`);
  return 0;
}

/** A pattern runs only where a text that it can't do without was found. */
function patternOf(
  pattern: string,
  before: { readonly table: TextTable; readonly literals: number[][] },
  complain: Complain,
): TextTest | null {
  const path = ['body', 'matches'];
  const compiled = compilePattern(pattern);
  if (compiled.kind === 'bad') {
    complain(path, compiled.why);
    return null;
  }
  const literal = requiredLiteral(pattern);
  if (literal !== null) before.literals.push([before.table.of(literal.slice(0, MAX_LITERAL_BYTES / 4))]);
  else if (before.literals.length === 0) {
    complain(path, 'has no fixed text of three characters to look for first; add body.contains');
  }
  return compiled.value;
}

function selectorOf(selector: string, complain: Complain): ((html: string) => boolean) | null {
  const compiled = compileSelector(selector);
  if (compiled.kind === 'ok') return compiled.value;
  complain(['missing', 'selector'], compiled.why);
  return null;
}
