/** `/credentials/import`: many credentials from a text, as other programs write it. */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { importFormats, type ImportAsk, type Imported } from '../../credentials/credential-import.js';
import { credentialTypes } from '../../storage/credential-ports.js';
import { actorOf } from '../gate.js';
import { Problem } from '../problem.js';
import { route, type ApiRoute } from '../route.js';
import type { AdminServices } from '../services.js';
import { line } from '../values.js';
import { openVault, useProblems } from '../vault-services.js';

const MOST_BYTES = 32 * 1024 * 1024;
/** What the type of a body says about its format, where `format` says nothing. */
const formatOfType = new Map<string, ImportAsk['format']>([
  ['text/csv', 'csv'],
  ['application/jsonl', 'jsonl'],
  ['application/x-ndjson', 'jsonl'],
]);

const query = z.strictObject({
  format: z
    .enum(importFormats)
    .optional()
    .describe('csv (with a header), jsonl (one object a line), cookies (a Netscape cookie file).'),
  mode: z
    .enum(['all', 'good'])
    .default('all')
    .describe('all: nothing is kept unless every line is good and new; good: what is good is kept.'),
  type: z.enum(credentialTypes).optional().describe('Type of lines that name none.'),
  key: line(200).optional().describe('Begins the keys of a cookie file.'),
});

const imported = z
  .object({
    created: z.number().int(),
    failed: z.number().int(),
    errors: z.array(z.object({ line: z.number().int(), why: z.string(), message: z.string() })),
  })
  .meta({ id: 'Imported' });

function formatOf(
  given: ImportAsk['format'] | undefined,
  contentType: string | undefined,
): ImportAsk['format'] {
  const format = given ?? formatOfType.get((contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '');
  if (format === undefined) throw new Problem('malformed', `format: expected ${importFormats.join(', ')}.`);
  return format;
}

function shown({ kind, created, failed, faults }: Imported): z.output<typeof imported> {
  if (kind === 'refused')
    throw new Problem('impossible', `Nothing was kept: ${failed} lines are wrong or there already.`, {
      errors: faults,
    });
  if (kind === 'too_large') throw new Problem('too_large', `It is too much at once; ${created} are kept.`);
  return { created, failed, errors: [...faults] };
}

/** The route. */
export function credentialImportRoutes({ vault }: AdminServices): ApiRoute[] {
  return [
    route({
      method: 'POST',
      path: '/api/v1/credentials/import',
      summary: 'Adds the credentials of a text: CSV, JSON lines, or a Netscape cookie file.',
      query,
      body: z.instanceof(Buffer).meta({ type: 'string' }),
      textTypes: ['text/csv', 'application/jsonl', 'application/x-ndjson', 'text/plain'],
      mostBytes: MOST_BYTES,
      problems: ['impossible', ...useProblems],
      answer: { status: 200, shape: imported },
      handle: async ({ query: { format, ...ask }, body, request }) => {
        const { credentials } = openVault(vault);
        const how = { ...ask, format: formatOf(format, request.headers['content-type']) };
        try {
          return shown(await credentials.import(Readable.from([body]), how, actorOf(request)));
        } finally {
          body.fill(0);
        }
      },
    }),
  ];
}
