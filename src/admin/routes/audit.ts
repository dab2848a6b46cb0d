/** `/audit`: who did what with which credential, newest first. It can only be looked at. */
import { z } from 'zod';
import type { AuditQuery, AuditRow } from '../../storage/ports.js';
import { pageFrom, pageOf, pageQuery, placeOf } from '../pages.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { dateOf, given, line } from '../values.js';
import { knownVault, lookProblems } from '../vault-services.js';

const text = z.string().nullable();
const record = z
  .object({
    at: z.string(),
    action: z.string(),
    actor: z.string(),
    address: text,
    credential: text,
    token: text.describe('A short form of its keyed hash, the same as `ref` of /tokens begins with.'),
    policy: text,
    target: text,
    task: text,
    outcome: z.string(),
    detail: z.record(z.string(), z.unknown()),
    chain: z.string().describe('Each gateway process writes a chain of its own.'),
    n: z.number().int().describe('Place in the chain.'),
    hash: z.string(),
  })
  .meta({ id: 'AuditRecord' });

const date = z.iso.datetime({ offset: true, error: 'expected a time such as 2026-01-31T12:00:00Z' });
const query = z.strictObject({
  ...pageQuery,
  from: date.optional(),
  to: date.optional(),
  action: line(64).optional().describe('Such as token.redeem or credential.create.'),
  actor: line(64).optional().describe('Name of the API token.'),
  credential: line(200).optional(),
  token: line(64).optional(),
  target: line(253).optional(),
  task: line(200).optional(),
});

const placeText = ({ atMs, chain, n }: AuditRow): string => `${atMs}/${n}/${chain}`;

function beforeOf(cursor: string | undefined): AuditQuery['before'] {
  if (cursor === undefined) return null;
  const [, at = '', n = '', chain = ''] =
    /^(\d{1,15})\/(\d{1,15})\/([\x21-\x7e]{1,100})$/.exec(placeOf(cursor)) ?? [];
  if (chain === '') throw new Problem('malformed', 'The cursor is none of ours.');
  return { atMs: Number(at), n: Number(n), chain };
}

function shown({ atMs, ...rest }: AuditRow): z.output<typeof record> {
  return { at: dateOf(atMs), ...rest };
}

/** The routes. */
export function auditRoutes({ vault }: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/audit',
      summary: 'Records of the audit, newest first.',
      query,
      problems: lookProblems,
      answer: { status: 200, shape: pageOf(record) },
      handle: async ({ query: { limit, cursor, from, to, ...narrowed } }) => {
        const times = {
          ...(from !== undefined && { fromMs: Date.parse(from) }),
          ...(to !== undefined && { toMs: Date.parse(to) }),
        };
        const wanted = { ...given(narrowed), ...times, before: beforeOf(cursor), limit: limit + 1 };
        const found = await knownVault(vault).audit.search(wanted);
        const { items, next } = pageFrom(found, limit, placeText);
        return { items: items.map(shown), next };
      },
    }),
  ];
}
