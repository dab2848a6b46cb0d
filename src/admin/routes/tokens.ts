/**
 * `/tokens`: a crawler takes out a credential by a policy, for a while. The answer to `redeem` is the only one that holds a
 * secret; its bytes are wiped once they are sent.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { sights } from '../../credentials/credential-status.js';
import type { Acquired, Redeemed, Reported, TokenView } from '../../credentials/token-desk.js';
import { credentialStatuses, credentialTypes } from '../../storage/credential-ports.js';
import { actorOf } from '../gate.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { dateOf, given, jsonObject, line, name, readTtl, ttl } from '../values.js';
import { openVault, useProblems, type VaultServices } from '../vault-services.js';
import { invalid } from './credentials.js';

const tokenField = 'x-gatekeeper-token';
const token = z.string().min(1).max(200);
const headers = z.looseObject({
  [tokenField]: token.optional().describe('The token, where `token_id` of the body does not have it.'),
});
const byToken = z.strictObject({ token_id: token.optional() });

const count = z.number().int();
const shared = {
  credential_key: z.string(),
  policy_id: z.string().nullable().describe('Null where the policy is gone.'),
  policy_name: z.string().describe('The policy that gave it: the one asked for, or one it falls back to.'),
  expires_at: z.string().describe('ISO 8601, UTC.'),
  expires_in: count.describe('The same in seconds from now.'),
  remaining_uses: count.nullable().describe('Null: any number within its time.'),
};
const acquired = z.object({ token_id: z.string(), ...shared }).meta({ id: 'AcquiredToken' });
const redeemed = z
  .object({
    ...shared,
    type: z.enum(credentialTypes),
    secret: z
      .union([z.string(), z.record(z.string(), z.unknown())])
      .describe('As it was given. Use it and forget it.'),
    meta: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'RedeemedCredential' });
const states = ['live', 'released', 'consumed', 'revoked', 'expired'] as const;
const held = z.object({ state: z.enum(states), ...shared }).meta({ id: 'Token' });
const reported = z
  .object({
    credential_key: z.string(),
    status: z.enum(credentialStatuses),
    cool_down_until: z.string().nullable(),
    changed: z.boolean().describe('Whether this report made it so.'),
  })
  .meta({ id: 'Reported' });

/** The token of a request, from its body or its field. */
function tokenIn(
  request: FastifyRequest,
  body: { readonly token_id?: string | undefined } | null | undefined,
): string {
  const fromField = request.headers[tokenField];
  const found = body?.token_id ?? (typeof fromField === 'string' ? fromField : undefined);
  if (found !== undefined) return found;
  throw new Problem('malformed', 'token_id: expected a token in the body, or in X-Gatekeeper-Token.');
}

/** What the tokens of this answer have in common. */
function sharedOf(
  services: { readonly clock: AdminServices['clock']; readonly vault: VaultServices },
  view: Pick<TokenView, 'credentialKey' | 'policy' | 'expiresMs' | 'remainingUses'>,
) {
  return {
    credential_key: view.credentialKey,
    policy_id: services.vault.policies.get(view.policy)?.id ?? null,
    policy_name: view.policy,
    expires_at: dateOf(view.expiresMs),
    expires_in: Math.max(0, Math.floor((view.expiresMs - services.clock.wallMs()) / 1000)),
    remaining_uses: view.remainingUses,
  };
}

const unknown = (): Problem => new Problem('token_unknown', 'No live or late token of yours is this one.');

function refusal(refused: Exclude<Acquired, { kind: 'acquired' }>): Problem {
  switch (refused.kind) {
    case 'unknown_policy':
      return new Problem('not_found', 'policy_name: there is no policy of this name.');
    case 'invalid':
      return invalid(refused.problems);
    case 'limited': {
      const whose =
        refused.limit === 'policy' ? 'The rate of the policy' : 'The rate of each credential that is free';
      return new Problem('limited', `${whose} is used up.`, { retryAfterMs: refused.retryAfterMs });
    }
    case 'none_free': {
      const { why, retryAfterMs } = refused;
      if (retryAfterMs === null) return new Problem('none_usable', reasons[why]);
      return new Problem('none_free', reasons[why], { retryAfterMs });
    }
  }
}

const reasons = {
  no_match: 'The filters of the policy let no credential through.',
  resting: 'All credentials that match rest, or may not be used.',
  held: 'All credentials that match are held by others.',
} as const;

function acquireRoute({ vault, clock }: AdminServices): ApiRoute {
  return route({
    method: 'POST',
    path: '/api/v1/tokens/acquire',
    summary: 'Takes out a credential by a policy. The secret is not in the answer: redeem the token for it.',
    body: z.strictObject({
      policy_name: name(),
      context: jsonObject()
        .optional()
        .describe('What it is for: target, task_id, and what filters refer to. At most 4 KiB.'),
    }),
    problems: ['not_found', 'impossible', 'limited', 'none_free', 'none_usable', ...useProblems],
    answer: { status: 200, shape: acquired },
    handle: async ({ body, request }) => {
      const opened = openVault(vault);
      const ask = { policy: body.policy_name, context: body.context ?? {} };
      const outcome = await opened.tokens.acquire(ask, actorOf(request));
      if (outcome.kind !== 'acquired') throw refusal(outcome);
      const { id } = outcome.token;
      return { token_id: id.reveal(), ...sharedOf({ clock, vault: opened }, outcome.token) };
    },
  });
}

function unredeemed(refused: Extract<Redeemed, { kind: 'refused' }>): Problem {
  if (refused.why === 'credential')
    return new Problem('credential_unusable', `The credential is ${refused.status ?? 'gone'}.`);
  if (refused.why === 'leaked')
    return new Problem('token_ended', 'It was asked for from too many addresses, so it is revoked.');
  return new Problem('token_ended', `The token is ${refused.why.replace('_', ' ')}.`);
}

/** Sends the answer with the secret in it, which is text of JSON already, and wipes all of it afterwards. */
function sendSecret(reply: FastifyReply, rest: object, secret: Buffer): FastifyReply {
  const head = JSON.stringify(rest).slice(0, -1);
  const bytes = Buffer.concat([Buffer.from(`${head},"secret":`), secret, Buffer.from('}')]);
  secret.fill(0);
  reply.raw.once('close', () => bytes.fill(0));
  return reply.type('application/json; charset=utf-8').send(bytes);
}

function redeemRoute({ vault, clock }: AdminServices): ApiRoute {
  return route({
    method: 'POST',
    path: '/api/v1/tokens/redeem',
    summary: 'Gives the credential of a token, as long as both may be used. Counts as a use.',
    body: byToken.nullish(),
    headers,
    problems: ['token_unknown', 'token_ended', 'credential_unusable', ...useProblems],
    answer: { status: 200, shape: redeemed },
    handle: async ({ body, request, reply }) => {
      const opened = openVault(vault);
      const outcome = await opened.tokens.redeem(tokenIn(request, body), actorOf(request));
      if (outcome.kind === 'unknown') throw unknown();
      if (outcome.kind === 'refused') throw unredeemed(outcome);
      const { type, meta, secret } = outcome;
      return sendSecret(reply, { ...sharedOf({ clock, vault: opened }, outcome.token), type, meta }, secret);
    },
  });
}

type Ending = { readonly word: 'release' | 'consume'; readonly summary: string };

function endRoute({ vault, clock }: AdminServices, { word, summary }: Ending): ApiRoute {
  return route({
    method: 'POST',
    path: `/api/v1/tokens/${word}`,
    summary,
    body: byToken.nullish(),
    headers,
    problems: ['token_unknown', ...useProblems],
    answer: { status: 200, shape: held },
    handle: async ({ body, request }) => {
      const opened = openVault(vault);
      const outcome = await opened.tokens[word](tokenIn(request, body), actorOf(request));
      if (outcome.kind === 'unknown') throw unknown();
      return { ...sharedOf({ clock, vault: opened }, outcome.token), state: outcome.token.state };
    },
  });
}

function reportedOr(outcome: Reported): Extract<Reported, { kind: 'reported' }> {
  if (outcome.kind === 'unknown') throw unknown();
  if (outcome.kind === 'too_late')
    throw new Problem('token_ended', 'The token is over for too long, or was revoked.');
  if (outcome.kind === 'gone') throw new Problem('token_ended', 'The credential was removed.');
  return outcome;
}

const reportBody = z.strictObject({
  token_id: token.optional(),
  outcome: z.enum(sights).describe('What the site made of it.'),
  duration: ttl().optional().describe('How long the site said to wait.'),
  reason: line(200).optional(),
});

function reportRoute({ vault }: AdminServices): ApiRoute {
  return route({
    method: 'POST',
    path: '/api/v1/tokens/report',
    summary:
      'Says what the holder saw of the credential: one that is blocked rests, one that is banned is set aside.',
    body: reportBody,
    headers,
    problems: ['token_unknown', 'token_ended', ...useProblems],
    answer: { status: 200, shape: reported },
    handle: async ({ body, request }) => {
      const { duration, outcome: sight, reason } = body;
      const forMs = duration === undefined ? undefined : (readTtl(duration) ?? undefined);
      const report = { outcome: sight, ...given({ forMs, reason }) };
      const outcome = await openVault(vault).tokens.report(tokenIn(request, body), report, actorOf(request));
      const { credentialKey, status, untilMs, isChanged } = reportedOr(outcome);
      const isResting = status === 'cooldown' || status === 'exhausted';
      return {
        ...{ credential_key: credentialKey, status, changed: isChanged },
        cool_down_until: isResting ? dateOf(untilMs) : null,
      };
    },
  });
}

/** The routes for crawlers. */
export function tokenRoutes(services: AdminServices): ApiRoute[] {
  return [
    acquireRoute(services),
    redeemRoute(services),
    endRoute(services, {
      word: 'release',
      summary: 'Gives a token back: its credential is free for others.',
    }),
    endRoute(services, { word: 'consume', summary: 'Says that the one task of a token is done.' }),
    reportRoute(services),
  ];
}
