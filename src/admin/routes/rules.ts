/** `/rules/test`: what rules would make of stored answers. */
import { z } from 'zod';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { line } from '../values.js';

const ask = z.strictObject({
  rules: z
    .string()
    .max(200_000)
    .optional()
    .describe('YAML with rules: (and detection:); without it the rules in force.'),
  host: line(300).optional().describe('Host of samples that do not say where they are from.'),
  samples: z
    .array(
      z.strictObject({
        name: line(200),
        http: z
          .string()
          .optional()
          .describe('A stored answer as text: status line, fields, blank line, body.'),
        base64: z.string().optional().describe('The same in base64, for bodies that are no text.'),
      }),
    )
    .min(1)
    .max(100),
});

const row = z
  .object({
    sample: z.string(),
    status: z.number().int().nullable(),
    verdict: z.string(),
    rule: z.string().nullable().describe('The rule that decided; null where the status did.'),
    actions: z.array(z.string()),
    matches: z.array(
      z.object({ rule: z.string(), shadow: z.boolean(), field: z.string(), found: z.string() }),
    ),
    trouble: z.string().nullable().describe('Why the body was not looked at, or the sample not read.'),
  })
  .meta({ id: 'RuleTest' });

/** The routes. */
export function ruleRoutes(services: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'POST',
      path: '/api/v1/rules/test',
      summary: 'Says which rule matches which stored answer, and why. Changes nothing.',
      body: ask,
      answer: { status: 200, shape: z.object({ items: z.array(row) }) },
      handle: async ({ body }) => {
        const samples = body.samples.map(({ name, http, base64 }) => ({
          name,
          bytes: base64 === undefined ? Buffer.from(http ?? '', 'utf8') : Buffer.from(base64, 'base64'),
        }));
        const tried = await services.testRules({ rules: body.rules ?? null, host: body.host ?? '', samples });
        if (tried.kind === 'problems') throw new Problem('impossible', tried.problems.join('; '));
        return { items: tried.rows };
      },
    }),
  ];
}
