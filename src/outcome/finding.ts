/** What a rule found in an answer or a fault, and what it asks for: the words between rules, verdicts and records. Types only. */

/** What a rule can ask for. */
export const ruleActions = [
  'ban',
  'retry',
  'throttle',
  'retry_only',
  'deliver',
  'freeze',
  'exhaust',
] as const;

/**
 * `ban`: the exit is set aside as the scope says; `retry`: another exit is tried; `throttle`: the exit gets a pause and
 * a strike for this site; `retry_only`: another exit is tried and nothing is held against this one; `deliver`: the
 * answer is good whatever else says no; `freeze`: the exit takes no new work until somebody thaws it; `exhaust`: the
 * exit is out for all sites, for as long as its longest ban.
 */
export type RuleAction = (typeof ruleActions)[number];

/** What is blamed. */
export const ruleScopes = ['exit_site', 'exit', 'credential'] as const;

/** The exit at this site, the exit everywhere, or the account at this site, which clears the exit. */
export type RuleScope = (typeof ruleScopes)[number];

/** What the rule went by, for the record of a ban. Bounded, secrets taken out. */
export interface RuleEvidence {
  /** Status of the answer; null for a fault. */
  readonly status: number | null;
  /** The condition that decided: `status`, `header cf-mitigated`, `body`, `missing`, `size_below` … */
  readonly field: string;
  /** What was found there, in at most 120 characters. */
  readonly found: string;
  /** SHA-256 of what was looked at of the decoded body, in hex; null where the body was not looked at. */
  readonly bodyHash: string | null;
  /** The first 200 characters of it on one line; null likewise. */
  readonly bodyStart: string | null;
}

/** The rule that decided. */
export interface RuleFinding {
  readonly name: string;
  readonly actions: readonly RuleAction[];
  readonly scope: RuleScope;
  readonly evidence: RuleEvidence;
}
