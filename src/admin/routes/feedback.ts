/** `/feedback`: a client that judges its answers itself says what became of one. */
import { z } from 'zod';
import { clientIn } from '../gate.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { line, name } from '../values.js';

const said = z.strictObject({
  requestId: line(512).describe('X-Turnpike-Request-Id of the answer.'),
  verdict: z.enum(['blocked', 'ok']).describe('blocked: a bad page; ok: takes an earlier word back.'),
  client: name()
    .optional()
    .describe(
      'With a token: the client that got the answer; anonymous without it. With a login: not needed.',
    ),
});

const taken = z.object({
  exit: z.string(),
  site: z.string(),
  outcome: z
    .enum(['noted', 'agreed', 'withdrawn', 'too_many'])
    .describe('agreed: enough clients say the same, and the exit is banned for everybody.'),
});

/** The routes. */
export function feedbackRoutes(services: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'POST',
      path: '/api/v1/feedback',
      summary: 'Says what became of an answer. With the proxy login of a client (Basic), or a token.',
      body: said,
      answer: { status: 200, shape: taken },
      handle: ({ body, request }) => {
        const login = clientIn(request);
        if (login !== null && body.client !== undefined && body.client !== login)
          throw new Problem('forbidden', 'client: a client speaks for itself only.');
        const client = login ?? body.client ?? 'anonymous';
        const done = services.feedback(client, { id: body.requestId, verdict: body.verdict });
        if (done.kind === 'refused') throw new Problem('impossible', done.detail);
        return { exit: done.exit, site: done.site, outcome: done.outcome };
      },
    }),
  ];
}
