/** What becomes of requests that no route serves, and of errors that a route throws: always a problem of the table. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { outageIn } from './outages.js';
import { Problem, problemOfStatus, sendProblem } from './problem.js';
import type { ApiRoute } from './route.js';

const MOST_DETAIL = 500;

/** What was wrong with what was sent: which field, and what was expected of it; never its value. */
function detailOf(error: object): string | null {
  if (!('validation' in error) || !Array.isArray(error.validation)) return null;
  const context = 'validationContext' in error ? String(error.validationContext) : 'request';
  const told = error.validation.map((each: { instancePath?: string; message?: string }) => {
    const path = (each.instancePath ?? '').replaceAll('/', '.').replace(/^\./, '');
    return `${path === '' ? context : path}: ${each.message ?? 'is wrong'}`;
  });
  return told.join('; ').slice(0, MOST_DETAIL);
}

/** The problem that an error is for whoever asked; null where it is nobody's but ours. */
function problemIn(error: unknown): Problem | null {
  if (error instanceof Problem) return error;
  const outage = outageIn(error);
  if (outage !== null || typeof error !== 'object' || error === null) return outage;
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  if (status < 400 || status >= 500) return null;
  return problemOfStatus(status, detailOf(error) ?? 'The request could not be read.');
}

/** Answers errors; `tell` hears of those that are ours. */
export function failed(tell: ((route: string, error: unknown) => void) | undefined) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const problem = problemIn(error);
    if (problem === null) tell?.(`${request.method} ${request.routeOptions.url ?? ''}`, error);
    return sendProblem(reply, problem ?? new Problem('failed', 'The request could not be served.'));
  };
}

/** Answers what is not in the table: another method, or no such path. */
export function notFound(routes: readonly ApiRoute[]) {
  const known = routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}$`),
  }));
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?')[0] ?? '';
    const methods = known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    if (methods.length === 0) return sendProblem(reply, new Problem('not_found', 'See docs/admin-api.md.'));
    reply.header('allow', methods.join(', '));
    return sendProblem(reply, new Problem('method_not_allowed', `Only by ${methods.join(', ')}.`));
  };
}
