/** `/reload`: takes the configuration anew, as SIGHUP does. */
import { z } from 'zod';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';

const reloaded = z
  .object({
    upstreams: z.number().int().describe('Over all pools.'),
    changed: z.array(z.string()).describe('Sections in which the new configuration is another.'),
    needsRestart: z.array(z.string()).describe('Settings that take effect with the next start only.'),
  })
  .meta({ id: 'Reloaded' });

/** The routes. */
export function reloadRoutes(services: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'POST',
      path: '/api/v1/reload',
      summary:
        'Loads the configuration and the lists anew. What is wrong keeps the old one, and is told (422).',
      answer: { status: 200, shape: reloaded },
      handle: async () => {
        const outcome = await services.reload();
        if (outcome === null)
          throw new Problem('conflict', 'This gateway has no configuration to load anew.');
        if (outcome.kind === 'kept')
          throw new Problem('impossible', `The old configuration is kept: ${outcome.problems.join('; ')}`);
        const { upstreams, changed, needsRestart } = outcome;
        return { upstreams, changed: [...changed], needsRestart: [...needsRestart] };
      },
    }),
  ];
}
