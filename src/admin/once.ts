/**
 * Requests that are done once (`Idempotency-Key`): a repetition gets the answer of the first. What was asked for is kept
 * as a keyed hash only, since it may hold a secret; answers hold none.
 */
import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import type { OnceRecords, OnceRow } from '../storage/ports.js';
import { Problem } from './problem.js';
import type { Asked } from './route.js';

/** How long a repetition gets the answer of the first. */
const KEEP_MS = 86_400_000;
/** Nothing is under way for longer; where a gateway dies with it, the key is free after this. */
const UNDER_WAY_MS = 30_000;

/** What it works with. */
export interface OnceParts {
  readonly records: OnceRecords;
  /** The same on every gateway; nobody else may know it. */
  readonly key: () => Buffer;
}

/** The field of the head, for routes that take it. */
export const onceHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .regex(/^[\u0021-\u007e]{1,255}$/, { error: 'expected up to 255 visible characters' })
    .optional()
    .describe('A repetition with the same key, within a day, gets the answer of the first request.'),
});

/** Does the work, or gives the answer of the request that this one repeats. @throws {Problem} */
export async function onlyOnce<T>(
  parts: OnceParts,
  asked: Pick<Asked<unknown, unknown, unknown>, 'request' | 'body' | 'by'>,
  work: () => Promise<T>,
): Promise<T> {
  const { request, body, by } = asked;
  const given = request.headers['idempotency-key'];
  if (typeof given !== 'string') return work();
  const { records } = parts;
  const what = JSON.stringify([by, request.method, request.routeOptions.url, request.params]);
  const name = createHash('sha256')
    .update(JSON.stringify([what, given]))
    .digest('hex');
  const fingerprint = createHmac('sha256', parts.key()).update(JSON.stringify(body)).digest('hex');
  const earlier = await records.begin(name, fingerprint, UNDER_WAY_MS);
  if (earlier !== null) return repeated<T>(earlier, fingerprint);
  try {
    const answer = await work();
    // It is done: that its answer is not kept is no reason to say otherwise.
    await records.finish(name, { status: 201, body: JSON.stringify(answer) }, KEEP_MS).catch(() => undefined);
    return answer;
  } catch (error) {
    await records.forget(name).catch(() => undefined);
    throw error;
  }
}

function repeated<T>(earlier: OnceRow, fingerprint: string): T {
  if (earlier.fingerprint !== fingerprint)
    throw new Problem('once_differs', 'Idempotency-Key: it came with another body before.');
  if (earlier.body === null)
    throw new Problem('once_under_way', 'Idempotency-Key: the first request is not done yet.');
  return JSON.parse(earlier.body) as T;
}
