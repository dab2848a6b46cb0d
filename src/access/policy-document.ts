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
