/**
 * What people do with policies. A policy says which credentials are given out, in which order and how often. All methods that
 * ask the store may reject with `StorageAway`, those that write also with `AuditUnavailable` (nothing was changed).
 */
import type { PolicyRow } from '../storage/ports.js';
import type { Actor, InputProblem } from './actor.js';
import type { PolicyBody } from './policy-document.js';

/** A policy for people. */
export interface PolicyView extends Omit<PolicyRow, 'document'> {
  /** As it was sent. */
  readonly body: PolicyBody;
  /** Credentials that its filters let through (whatever the context), and those of them that may be used now. */
  readonly total: number;
  readonly usable: number;
  /** What works but looks wrong, such as a rate above 60 % of what its credentials bear. */
  readonly warnings: readonly string[];
}

export type PolicyCreated =
  | { readonly kind: 'created'; readonly policy: PolicyView }
  | { readonly kind: 'exists' }
  | { readonly kind: 'invalid'; readonly problems: readonly InputProblem[] };

export type PolicyChanged =
  | { readonly kind: 'changed'; readonly policy: PolicyView }
  | { readonly kind: 'gone' }
  | { readonly kind: 'invalid'; readonly problems: readonly InputProblem[] };

export type PolicyRemoved =
  | { readonly kind: 'removed' }
  | { readonly kind: 'gone' }
  /** These fall back to it. */
  | { readonly kind: 'in_use'; readonly by: readonly string[] };

/** How the credentials of a policy stand; what alerts go by. */
export interface PolicySupply {
  readonly policy: string;
  readonly usable: number;
  readonly total: number;
  /** Percent below which it is too few; null: as the configuration says. */
  readonly minActive: number | null;
  /** The policy's rate as percent of what the limits of its credentials add up to; null where either has none. */
  readonly ratePercent: number | null;
}

/** The desk. */
export interface PolicyDesk {
  /** @param body what was sent; its shape is checked here (`policyBody` in policy-document.ts is the schema) */
  create(body: unknown, by: Actor): Promise<PolicyCreated>;
  /** The body's own name must be `name`, or be left out. */
  replace(name: string, body: unknown, by: Actor): Promise<PolicyChanged>;
  /** Tokens that were given out by it live on until they end. */
  remove(name: string, by: Actor): Promise<PolicyRemoved>;
  /** By name; as this gateway knows them, at most half a second old. */
  list(): readonly PolicyView[];
  get(name: string): PolicyView | null;
  supplies(): readonly PolicySupply[];
}
