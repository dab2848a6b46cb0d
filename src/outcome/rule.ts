/** A rule as it is written down: what an answer or a fault must look like, and what then. Types only. */
import type { FaultKind } from '../core/fault.js';
import type { RuleAction, RuleScope } from './finding.js';

/** A share of what the site normally sends or takes: `{ share: 0.3 }` is 30 %. */
export interface OfBaseline {
  readonly share: number;
}

/** What a header field must be. All that is given must hold; several texts mean any of them. ASCII case aside. */
export interface HeaderCondition {
  /** In lower case. */
  readonly name: string;
  readonly is?: readonly string[];
  readonly contains?: readonly string[];
  /** A pattern of RE2, ASCII case aside, for the first 1,024 characters of the value. */
  readonly matches?: string;
  readonly present?: boolean;
}

/** What a body must hold. */
export interface BodyCondition {
  /** Any of these, ASCII case aside. */
  readonly contains?: readonly string[];
  /** All of these. */
  readonly contains_all?: readonly string[];
  /** A pattern of RE2, ASCII case aside. */
  readonly matches?: string;
  /** How far into the decoded body is looked, in bytes. Default: `detection.look_at`. */
  readonly within?: number;
}

/** What must be missing in a body that is there as a whole. */
export interface MissingCondition {
  readonly text?: readonly string[];
  readonly selector?: string;
}

/** Both ends included. */
export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

/** All that is given must hold. */
export interface Conditions {
  readonly status?: readonly StatusRange[];
  readonly header?: readonly HeaderCondition[];
  /** Of the address in `Location`. */
  readonly redirect?: { readonly contains?: readonly string[]; readonly host?: readonly string[] };
  readonly body?: BodyCondition;
  /** Bytes of the body as it came, or a share of what the site normally sends. */
  readonly size_below?: number | OfBaseline;
  readonly missing?: MissingCondition;
  /** Milliseconds to the first byte, or a share of what the site normally takes. */
  readonly slower_than?: number | OfBaseline;
  /** Kinds of faults on the way; such a rule looks at no answer. */
  readonly connect_fault?: readonly FaultKind[];
}

/** One rule. */
export interface RuleSpec {
  readonly name: string;
  /** Hosts and `*.` patterns, or registrable domains; empty: everywhere. */
  readonly site: readonly string[];
  /** One of these must hold. */
  readonly when: readonly Conditions[];
  readonly then: readonly RuleAction[];
  readonly scope: RuleScope;
  /** Only counted. */
  readonly shadow: boolean;
}
