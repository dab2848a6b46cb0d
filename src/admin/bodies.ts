/** What bodies may be: JSON of a bounded depth, and text where a route says so. Anything else is refused unread. */
import type { FastifyInstance } from 'fastify';
import { Problem } from './problem.js';

/** Deeper than anybody needs, and shallow enough for whatever walks over it by recursion. */
const MOST_DEPTH = 32;

/** Whether the value goes deeper than so many levels; walks without recursion. */
export function isDeeperThan(value: unknown, most: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > most) return true;
    level = level.flatMap((each): unknown[] =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
  }
  return false;
}

/** Has the server read JSON, and nothing else. */
export function readBodies(server: FastifyInstance): void {
  server.removeContentTypeParser('text/plain');
  server.addHook('preValidation', async ({ body }) => {
    if (Buffer.isBuffer(body) || !isDeeperThan(body, MOST_DEPTH)) return;
    throw new Problem('malformed', `body: expected at most ${MOST_DEPTH} levels.`);
  });
}

/** Has a route read text of these types too, as it came. */
export function readTexts(scope: FastifyInstance, types: readonly string[]): void {
  if (types.length === 0) return;
  scope.addContentTypeParser([...types], { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
}
