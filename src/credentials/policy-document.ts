/**
 * What a policy says: which credentials (type, filters), in which order (selector), how often and for how long (constraints), and
 * what then (fallback). PURE: reads and checks one body; whether what it falls back to exists is for the desk.
 *
 *     filters:  "meta.group": "europe"            equal; where the credential has a list, one of it
 *               "meta.region": ["US", "CA"]       any of these
 *               "meta.region": "$context.region"  what the asker's context says; without it, the request is refused
 *               "meta.region": "$context.region?" the same; without it, any
 *               "status": "active"                the only one that is ever given out
 *     rates:    300/hour   100/10m   50/min burst 5
 */
import { z } from 'zod';
import { parseRate, type Rate } from '../facts/limit.js';
import { credentialTypes, type CredentialType } from '../storage/credential-ports.js';
import type { InputProblem } from './actor.js';

export const selectors = ['random', 'round_robin', 'weighted_random', 'least_used'] as const;
export type Selector = (typeof selectors)[number];

const rateWanted = 'expected a rate such as 300/hour, 100/10m or 50/min burst 5';
const rate = z.string().refine((text) => parseRate(text) !== null, { error: rateWanted });

/** A name of a policy. */
export const policyName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
  error: 'expected a name of letters, digits, ., _ and -; at most 64',
});

const scalar = z.union([z.string().max(200), z.number(), z.boolean()]);
const filterValue = z.union([scalar, z.array(scalar).min(1).max(100)]);

const constraints = z.strictObject({
  rate_limit: rate
    .optional()
    .describe('Tokens of this policy, over all gateways: 300/hour, 100/10m, 50/min burst 5.'),
  per_credential_limit: rate.optional().describe('Tokens for each of its credentials.'),
  validity_period: z
    .number()
    .int()
    .min(1)
    .max(86_400)
    .optional()
    .describe('Seconds until a token expires; 300.'),
  single_use: z.boolean().optional().describe('The same as max_uses 1.'),
  max_uses: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('How often a token may be redeemed; any number.'),
  max_concurrent: z
    .number()
    .int()
    .min(1)
    .max(1000)
    .nullable()
    .optional()
    .describe(
      'Live tokens that a credential may have at once, whichever policy gave them; 1 for logins and cookies, any number (null) for keys.',
    ),
  max_addresses: z
    .number()
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe('Addresses that a token may be redeemed from; one more, and it is revoked. 1.'),
});

/** A body as it is sent. */
export const policyBody = z
  .strictObject({
    name: policyName,
    credential_type: z.enum(credentialTypes),
    selector: z.enum(selectors).optional().describe('random'),
    filters: z.record(z.string(), filterValue).optional(),
    constraints: constraints.optional(),
    fallback: policyName
      .nullable()
      .optional()
      .describe('The policy to go on with where this one has nothing.'),
    jitter: z
      .number()
      .min(0)
      .max(2)
      .optional()
      .describe('Seconds, at most 2: each acquire waits a random part of it.'),
    min_active: z
      .number()
      .min(0)
      .max(100)
      .optional()
      .describe('Percent of its credentials; fewer usable raise an alert.'),
    targets: z.array(z.string().max(253)).max(100).optional().describe('Sites that it is for.'),
  })
  .meta({ id: 'PolicyBody' });
export type PolicyBody = z.infer<typeof policyBody>;

/** Where a filter looks, and what it wants there. */
export interface Filter {
  /** Path within `meta`, or the key or type of the credential. */
  readonly field: { readonly kind: 'meta'; readonly path: readonly string[] } | { readonly kind: 'key' };
  readonly want:
    | { readonly kind: 'any_of'; readonly values: readonly (string | number | boolean)[] }
    | { readonly kind: 'context'; readonly name: string; readonly isOptional: boolean };
}

/** A policy that can be worked with: defaults filled in. */
export interface Policy {
  readonly name: string;
  readonly type: CredentialType;
  readonly selector: Selector;
  readonly filters: readonly Filter[];
  readonly rate: Rate | null;
  readonly perCredential: Rate | null;
  readonly validMs: number;
  readonly maxUses: number | null;
  readonly slots: number | null;
  readonly maxAddresses: number;
  readonly fallback: string | null;
  readonly jitterMs: number;
  readonly minActive: number | null;
}

export type PolicyRead =
  | { readonly kind: 'policy'; readonly policy: Policy; readonly body: PolicyBody }
  | { readonly kind: 'invalid'; readonly problems: readonly InputProblem[] };

const contextReference = /^\$context\.([A-Za-z0-9_-]{1,64})(\?)?$/;

/** Reads a body. */
export function readPolicy(sent: unknown): PolicyRead {
  const parsed = policyBody.safeParse(sent);
  if (!parsed.success) return { kind: 'invalid', problems: parsed.error.issues.map(problemOf) };
  const body = parsed.data;
  const problems: InputProblem[] = [];
  const filters = Object.entries(body.filters ?? {}).flatMap(([field, value]) => {
    const filter = readFilter(field, value);
    if (typeof filter === 'string') problems.push({ path: `filters.${field}`, message: filter });
    return typeof filter === 'string' || filter === null ? [] : [filter];
  });
  problems.push(...contradictions(body));
  return problems.length > 0
    ? { kind: 'invalid', problems }
    : { kind: 'policy', policy: { ...valuesOf(body), filters }, body };
}

function valuesOf(body: PolicyBody): Omit<Policy, 'filters'> {
  const { constraints: bounds = {} } = body;
  return {
    ...{ name: body.name, type: body.credential_type, selector: body.selector ?? 'random' },
    rate: rateOf(bounds.rate_limit),
    perCredential: rateOf(bounds.per_credential_limit),
    validMs: (bounds.validity_period ?? 300) * 1000,
    maxUses: bounds.single_use === true ? 1 : (bounds.max_uses ?? null),
    slots: bounds.max_concurrent === undefined ? usualSlots[body.credential_type] : bounds.max_concurrent,
    maxAddresses: bounds.max_addresses ?? 1,
    fallback: body.fallback ?? null,
    jitterMs: (body.jitter ?? 0) * 1000,
    minActive: body.min_active ?? null,
  };
}

/** Two who use one login or one cookie at once look like a stolen account; a key is made for it. */
const usualSlots: Readonly<Record<CredentialType, number | null>> = {
  ...{ username_password: 1, cookie_string: 1, api_key: null, oauth2_token: null },
};

const rateOf = (text: string | undefined): Rate | null => (text === undefined ? null : parseRate(text));

/** What the filter says; null where it says nothing, a text where it can't be meant. */
function readFilter(field: string, value: z.infer<typeof filterValue>): Filter | string | null {
  if (field === 'status') {
    return value === 'active' ? null : 'only active credentials are given out: leave it out, or say active';
  }
  const path = field.startsWith('meta.') ? field.slice('meta.'.length).split('.') : [];
  if (field !== 'key' && (path.length === 0 || path.includes('')))
    return 'expected meta.FIELD, key or status';
  const at: Filter['field'] = field === 'key' ? { kind: 'key' } : { kind: 'meta', path };
  const values = Array.isArray(value) ? value : [value];
  const references = values.filter((each) => typeof each === 'string' && each.startsWith('$'));
  if (references.length === 0) return { field: at, want: { kind: 'any_of', values } };
  const match = values.length === 1 ? contextReference.exec(String(values[0])) : null;
  if (match === null)
    return 'a value that begins with $ is a reference, $context.NAME or $context.NAME?, and stands alone';
  return { field: at, want: { kind: 'context', name: match[1] ?? '', isOptional: match[2] === '?' } };
}

function contradictions({ name, fallback, constraints: bounds }: PolicyBody): InputProblem[] {
  const problems: InputProblem[] = [];
  if (fallback === name) problems.push({ path: 'fallback', message: 'a policy can not fall back to itself' });
  if (bounds?.single_use === true && (bounds.max_uses ?? 1) !== 1)
    problems.push({
      path: 'constraints.max_uses',
      message: 'single_use is max_uses 1: leave one of them out',
    });
  return problems;
}

function problemOf(issue: z.core.$ZodIssue): InputProblem {
  return { path: issue.path.join('.'), message: issue.message };
}
