/** `/sites`: where the site guard has stepped in. */
import { z } from 'zod';
import { pageOf, pageQuery, slice } from '../pages.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';

const site = z
  .object({
    site: z.string(),
    state: z
      .enum(['down', 'suspended'])
      .describe('down: the site; suspended: a rule that fires on all of it.'),
    rule: z.string().nullable(),
    since: z.string(),
    exits: z.number().int().describe('Exits that had failed when it began.'),
  })
  .meta({ id: 'Site' });

/** The routes. */
export function siteRoutes(services: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/sites',
      summary: 'Sites that are down, and sites where a rule is suspended.',
      query: z.strictObject(pageQuery),
      answer: { status: 200, shape: pageOf(site) },
      handle: ({ query }) => {
        const beganMs = services.clock.wallMs() - services.clock.nowMs();
        const rows = [...services.sites()].sort((a, b) => (a.site < b.site ? -1 : 1));
        const { items, next } = slice(rows, (row) => row.site, query);
        const shown = items.map(({ sinceMs, ...row }) => ({
          ...row,
          since: new Date(beganMs + sinceMs).toISOString(),
        }));
        return { items: shown, next };
      },
    }),
  ];
}
