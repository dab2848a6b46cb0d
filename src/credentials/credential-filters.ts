/**
 * Which credentials a policy lets through. PURE. What doesn't depend on the asker is decided once for each credential; what
 * refers to the context puts each credential into buckets, one for each answer that the context may give, so that an asker's
 * choice is a look-up and no search.
 */
import type { CredentialRow, Json, JsonObject } from '../storage/credential-ports.js';
import type { Filter, Policy } from './policy-document.js';

/** What filters look at. */
export type Filtered = Pick<CredentialRow, 'key' | 'type' | 'meta'>;

/** A credential stands in at most so many buckets of a policy; what its lists would add beyond that is left out. */
export const MOST_BUCKETS = 256;
const MOST_VALUES = 64;

/** The bucket of policies whose filters don't refer to the context. */
export const WHOLE = '[]';

/** Whether the credential is of the policy's type and meets all that doesn't depend on the context. */
export function passes(policy: Policy, credential: Filtered): boolean {
  return (
    credential.type === policy.type &&
    policy.filters.every(({ field, want }) => {
      if (want.kind === 'context') return true;
      const values = valuesAt(field, credential);
      return want.values.some((value) => values.includes(value));
    })
  );
}

/** The buckets that a credential stands in. */
export function bucketsOf(policy: Policy, credential: Filtered): string[] {
  let tuples: Json[][] = [[]];
  for (const { field, want } of policy.filters) {
    if (want.kind !== 'context') continue;
    const values: Json[] = [...(want.isOptional ? [null] : []), ...valuesAt(field, credential)];
    tuples = tuples.flatMap((tuple) => values.map((value) => [...tuple, value])).slice(0, MOST_BUCKETS);
  }
  return [...new Set(tuples.map((tuple) => JSON.stringify(tuple)))];
}

export type BucketWanted =
  | { readonly kind: 'bucket'; readonly bucket: string }
  /** The context must say these. */
  | { readonly kind: 'missing'; readonly names: readonly string[] };

/** The bucket that a context asks for. */
export function bucketFor(policy: Policy, context: JsonObject): BucketWanted {
  const tuple: Json[] = [];
  const missing: string[] = [];
  for (const { want } of policy.filters) {
    if (want.kind !== 'context') continue;
    const value = Object.hasOwn(context, want.name) ? context[want.name] : null;
    if (isScalar(value)) tuple.push(value);
    else if (want.isOptional) tuple.push(null);
    else missing.push(want.name);
  }
  return missing.length > 0
    ? { kind: 'missing', names: [...new Set(missing)] }
    : { kind: 'bucket', bucket: JSON.stringify(tuple) };
}

/** Whether a choice among the policy's credentials depends on the context. */
export function isByContext({ filters }: Policy): boolean {
  return filters.some(({ want }) => want.kind === 'context');
}

/** What `weighted_random` goes by: `meta.weight`, 1 where there is none. */
export function weightOf(meta: JsonObject): number {
  const weight = meta['weight'];
  return typeof weight === 'number' && weight >= 0 ? Math.min(weight, 1e9) : 1;
}

function valuesAt(field: Filter['field'], { key, meta }: Filtered): (string | number | boolean)[] {
  if (field.kind === 'key') return [key];
  let value: Json | undefined = meta;
  for (const name of field.path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    value = Object.hasOwn(value, name) ? (value as JsonObject)[name] : undefined;
  }
  return Array.isArray(value) ? value.slice(0, MOST_VALUES).filter(isScalar) : isScalar(value) ? [value] : [];
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
