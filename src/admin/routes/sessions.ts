/** `/sessions`: which session is on which exit. A session is a name inside its client. */
import { z } from 'zod';
import { parsePinKey, pinKey } from '../../facts/pin.js';
import { afterOf, pageFrom, pageOf, pageQuery } from '../pages.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { exitId, line, name } from '../values.js';

const session = z
  .object({
    client: z.string(),
    session: z.string(),
    exit: z.string(),
    generation: z.number().int(),
    leftMs: z.number().describe('Time until it is forgotten, if nobody uses it.'),
  })
  .meta({ id: 'Session' });

/** The routes. */
export function sessionRoutes({ sessions }: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/api/v1/sessions',
      summary: 'Live sessions.',
      query: z.strictObject({ ...pageQuery, client: name().optional(), exit: exitId().optional() }),
      answer: { status: 200, shape: pageOf(session) },
      handle: async ({ query }) => {
        const { limit, cursor, client = null, exit = null } = query;
        const held = await sessions.list({ after: afterOf(cursor), limit: limit + 1, client, exit });
        const { items, next } = pageFrom(held, limit, ({ key }) => key);
        const rows = items.map(({ key, pin, leftMs }) => ({
          ...(parsePinKey(key) ?? { client: '', session: key }),
          ...{ exit: pin.exit, generation: pin.generation, leftMs: Math.round(leftMs) },
        }));
        return { items: rows, next };
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/v1/sessions/:client/:session',
      summary: 'Forgets a session: its next request begins anew.',
      params: z.strictObject({ client: name(), session: line(128) }),
      answer: {
        status: 200,
        shape: z.object({ client: z.string(), session: z.string(), state: z.literal('forgotten') }),
      },
      handle: async ({ params }) => {
        if (!(await sessions.drop(pinKey(params.client, params.session))))
          throw new Problem('not_found', 'This client has no such session.');
        return { ...params, state: 'forgotten' };
      },
    }),
  ];
}
