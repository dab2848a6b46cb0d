/** `/cluster`: the gateways that share a state, and what of the shared pools is this one's. */
import { z } from 'zod';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';

const count = z.number().int();

const member = z.object({
  id: z.string(),
  version: z.string(),
  load: count.describe('Requests under way, as of its last heartbeat.'),
  self: z.boolean(),
});

const pool = z.object({
  pool: z.string(),
  sharing: z.enum(['none', 'modulo', 'ring', 'broker']),
  exits: count,
  own: count.nullable().describe("This gateway's; null where all are, or where it depends on the site."),
});

const cluster = z
  .object({
    gatewayId: z.string(),
    state: z.enum(['memory', 'shared', 'degraded']),
    sharing: z
      .enum(['starting', 'shared', 'away', 'returning'])
      .describe(
        'away: Redis is gone, and each gateway keeps to its own part; returning: it is back since a moment.',
      ),
    members: z.array(member),
    pools: z.array(pool),
    leases: z
      .record(z.string(), count)
      .describe('What became of leases since the start, and how many are held.'),
    owners: z
      .array(z.object({ pool: z.string(), owner: z.string().nullable() }))
      .describe('With ?exit=: whose it is in each pool that has it; null where nobody knows.'),
  })
  .meta({ id: 'Cluster' });

/** The routes. */
export function clusterRoutes(services: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/cluster',
      summary: 'The gateways that share a state, and what of the shared pools is this one’s.',
      query: z.strictObject({ exit: z.string().max(128).optional() }),
      answer: { status: 200, shape: cluster },
      handle: ({ query }) => services.cluster(query.exit ?? null),
    }),
  ];
}
