/** `/status` and `/pools`: what there is, without anything that could be changed. */
import { z } from 'zod';
import { pageOf, pageQuery, slice } from '../pages.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';

const count = z.number().int();
const most = count.nullable().describe('Null: no limit.');
const exitCounts = z.object({ available: count, out: count, frozen: count, draining: count });

const pool = z
  .object({ name: z.string(), strategy: z.string(), slots: most, exits: exitCounts })
  .meta({ id: 'Pool' });

const shownSites = 50;

const tier = z.object({ route: z.string(), site: z.string(), pool: z.string(), why: z.string() });
const pace = z.object({ site: z.string(), pool: z.string(), spacingMs: z.number() });

const status = z
  .object({
    version: z.string(),
    gatewayId: z.string(),
    phase: z.enum(['starting', 'serving', 'draining']),
    state: z.enum(['memory', 'shared', 'degraded']),
    vault: z.enum(['off', 'sealed', 'open']),
    storage: z.enum(['off', 'up', 'away']),
    uptimeMs: z.number(),
    proxy: z.array(z.string()),
    exits: exitCounts.describe('Over all pools.'),
    bans: count,
    exchangesOpen: count,
    tunnelsOpen: count,
    eventListeners: count,
    tiers: z
      .array(tier)
      .describe(`Sites that a dearer pool serves than the first of the route; the ${shownSites} asked last.`),
    paces: z
      .array(pace)
      .describe(`Rests that were learnt (spacing: auto); the ${shownSites} sites visited last.`),
  })
  .meta({ id: 'Status' });

function exitsOver(services: AdminServices): z.output<typeof exitCounts> {
  const sum = { available: 0, out: 0, frozen: 0, draining: 0 };
  for (const { exits } of services.pools()) {
    sum.available += exits.available;
    sum.out += exits.out;
    sum.frozen += exits.frozen;
    sum.draining += exits.draining;
  }
  return sum;
}

/** The routes. */
export function overviewRoutes(services: AdminServices): ApiRoute[] {
  const byName = <T extends { readonly name: string }>(rows: readonly T[]): T[] =>
    [...rows].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [
    route({
      method: 'GET',
      path: '/api/v1/status',
      summary: 'Figures of the whole gateway.',
      answer: { status: 200, shape: status },
      handle: () => ({
        ...services.status(),
        exits: exitsOver(services),
        bans: services.bans.list().length,
        eventListeners: services.feed.size,
        tiers: [...services.tiers(shownSites)],
        paces: services.paces(shownSites).map((row) => ({ ...row, spacingMs: Math.round(row.spacingMs) })),
      }),
    }),
    route({
      method: 'GET',
      path: '/api/v1/pools',
      summary: 'Pools with their exits by state.',
      query: z.strictObject(pageQuery),
      answer: { status: 200, shape: pageOf(pool) },
      handle: ({ query }) => slice(byName(services.pools()), ({ name }) => name, query),
    }),
  ];
}
