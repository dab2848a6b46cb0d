/** `/tokens` for administrators: which are out, and taking one back. A token is named by `ref`, which redeems nothing. */
import { z } from 'zod';
import type { TokenRow } from '../../storage/credential-ports.js';
import { actorOf } from '../gate.js';
import { afterOf, pageFrom, pageOf, pageQuery } from '../pages.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { dateOf, given, line, name } from '../values.js';
import { knownVault, lookProblems, openVault, useProblems } from '../vault-services.js';

const live = z
  .object({
    ref: z.string().describe('The keyed hash that is kept of the token.'),
    credential_key: z.string(),
    policy_name: z.string(),
    holder: z.string().describe('Name of the API token that acquired it.'),
    context: z.record(z.string(), z.unknown()),
    issued_at: z.string(),
    expires_at: z.string(),
    uses: z.number().int(),
    max_uses: z.number().int().nullable(),
    addresses: z.array(z.string()).describe('From where it was redeemed.'),
  })
  .meta({ id: 'LiveToken' });

const ref = z.string().regex(/^[0-9a-f]{32,128}$/, { error: 'expected the ref of a token' });

function shown(row: TokenRow): z.output<typeof live> {
  return {
    ...{ ref: row.hash, credential_key: row.credentialKey, policy_name: row.policy, holder: row.holder },
    ...{ context: row.context, uses: row.uses, max_uses: row.maxUses, addresses: [...row.addresses] },
    issued_at: dateOf(row.issuedMs),
    expires_at: dateOf(row.expiresMs),
  };
}

/** The routes. */
export function liveTokenRoutes({ vault }: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/tokens',
      summary: 'Tokens that are out now, without the tokens themselves.',
      query: z.strictObject({
        ...pageQuery,
        credential: line(200).optional(),
        holder: line(64).optional(),
        policy: name().optional(),
      }),
      problems: lookProblems,
      answer: { status: 200, shape: pageOf(live) },
      handle: async ({ query: { limit, cursor, ...narrowed } }) => {
        const wanted = { ...given(narrowed), after: afterOf(cursor), limit: limit + 1 };
        const found = await knownVault(vault).overview.list(wanted);
        const { items, next } = pageFrom(found, limit, ({ hash }) => hash);
        return { items: items.map(shown), next };
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/tokens/:ref',
      summary: 'Takes a token back, whoever holds it; from now on no gateway redeems it.',
      params: z.strictObject({ ref }),
      problems: ['token_unknown', ...useProblems],
      answer: { status: 200, shape: z.object({ ref: z.string(), state: z.string() }) },
      handle: async ({ params, request }) => {
        const ended = await openVault(vault).overview.revoke(params.ref, actorOf(request));
        if (ended === null) throw new Problem('token_unknown', 'There is no token of this ref.');
        return { ref: ended.hash, state: ended.state };
      },
    }),
  ];
}
