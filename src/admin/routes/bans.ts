/** `/bans`: look, ban, lift. */
import { z } from 'zod';
import type { BanRow } from '../../exits/ban-desk.js';
import { pageOf, pageQuery, slice } from '../pages.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { exitId, line, readTtl, ttl } from '../values.js';

const evidence = z
  .object({
    requestId: z.string().nullable().describe('The request that brought it.'),
    status: z.number().int().nullable(),
    rule: z.string().nullable().describe('The rule that fired; null where status or fault alone decided.'),
    field: z.string().describe('What decided: a condition of the rule, a status, a kind of fault.'),
    found: z.string(),
    bodyHash: z.string().nullable(),
    bodyStart: z.string().nullable(),
  })
  .nullable()
  .describe('What the ban goes by; null where a person said so.');

const fields = {
  id: z.string(),
  exit: z.string().nullable().describe('Null where the ban is about a credential.'),
  label: z.string().nullable(),
  credential: z
    .string()
    .nullable()
    .describe('The login that all exits share which are set aside; null where the ban is about one exit.'),
  site: z.string().nullable().describe('Null: for all sites.'),
  reason: z.string(),
  strikes: z.number().int(),
  phase: z.enum(['clear', 'out', 'half_open', 'trial']),
  leftMs: z.number().describe('Time left; 0: the next request is the trial.'),
  until: z.string().describe('The same as a date.'),
  evidence,
};
const ban = z.object(fields).meta({ id: 'Ban' });
const made = z.object({ ...fields, tunnels: z.number().int().describe('Open tunnels that end for it.') });

const order = z.strictObject({
  exit: exitId().describe('The id of an exit, or of a credential (c-…) with a site.'),
  site: line(300).nullable().optional().describe('A host or site; without it for all sites.'),
  ttl: ttl().optional().describe('Seconds, or a time such as 1h; without it as long as the rules say.'),
  reason: line(200),
  tunnels: z
    .enum(['keep', 'close_idle', 'close'])
    .optional()
    .describe('What becomes of its open tunnels there; without it as tunnels.on_ban says.'),
});

function shown(row: BanRow, services: AdminServices): z.output<typeof ban> {
  const { upstream, credential, leftMs, id, site, reason, strikes, phase } = row;
  const until = new Date(services.clock.wallMs() + leftMs).toISOString();
  return {
    ...{ id, exit: upstream?.id ?? null, label: upstream?.label ?? null, credential },
    ...{ site, reason, strikes, phase },
    leftMs: Math.round(leftMs),
    until,
    evidence: row.evidence,
  };
}

/** The routes. */
export function banRoutes(services: AdminServices): ApiRoute[] {
  const { bans } = services;
  return [
    route({
      method: 'GET',
      path: '/api/v1/bans',
      summary: 'Bans that are on, automatic ones and others, and exits that are out altogether.',
      query: z.strictObject(pageQuery),
      answer: { status: 200, shape: pageOf(ban) },
      handle: ({ query }) => {
        const { items, next } = slice(bans.list(), ({ id }) => id, query);
        return { items: items.map((row) => shown(row, services)), next };
      },
    }),
    route({
      method: 'POST',
      path: '/api/v1/bans',
      summary: 'Bans an exit, or a credential for a site, however much of its pool is out already.',
      body: order,
      answer: { status: 201, shape: made },
      handle: ({ body, by }) => {
        const { exit, site = null, reason } = body;
        const forMs = body.ttl === undefined ? null : readTtl(body.ttl);
        const done = bans.ban({ exit, site, forMs, reason, by });
        if (done.kind === 'unknown_exit')
          throw new Problem('not_found', 'No pool has an exit or a credential of this id.');
        if (done.kind === 'needs_site')
          throw new Problem('impossible', 'site: a credential is banned for a site.');
        if (done.kind === 'bad_site') throw new Problem('impossible', 'site: expected a host or a site.');
        const tunnels = services.tunnelsOfBanned({ exit, site: done.row.site }, body.tunnels ?? null);
        return { ...shown(done.row, services), tunnels };
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/bans/:id',
      summary: 'Ends a ban; its strikes stay.',
      params: z.strictObject({ id: line(400) }),
      answer: { status: 200, shape: z.object({ id: z.string(), state: z.literal('lifted') }) },
      handle: ({ params: { id }, by }) => {
        if (!bans.lift(id, by)) throw new Problem('not_found', 'There is no ban of this id.');
        return { id, state: 'lifted' };
      },
    }),
  ];
}
