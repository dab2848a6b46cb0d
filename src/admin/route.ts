/** One route of the API: what it takes and gives as zod schemas, and a handler that gets what was checked. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { holderOf } from './gate.js';

/** What a handler gets. */
export interface Asked<Q, P, B> {
  readonly query: Q;
  readonly params: P;
  readonly body: B;
  /** Name of the token that came with it. */
  readonly by: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A route as the server wants it. */
export interface ApiRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly schema: Readonly<Record<string, unknown>>;
  handle(request: FastifyRequest, reply: FastifyReply): unknown;
}

/** A route as one writes it down. */
export interface RouteSpec<Q, P, B> {
  readonly method: ApiRoute['method'];
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodType<Q>;
  readonly params?: z.ZodType<P>;
  readonly body?: z.ZodType<B>;
  /** Status and shape of a good answer; what is not in the shape is left out of the answer. */
  readonly answer?: { readonly status: number; readonly shape: z.ZodType };
  handle(asked: Asked<Q, P, B>): unknown;
}

/** Makes a route of its description. */
export function route<Q = unknown, P = unknown, B = unknown>(spec: RouteSpec<Q, P, B>): ApiRoute {
  const { query, params, body, answer } = spec;
  return {
    method: spec.method,
    path: spec.path,
    schema: {
      summary: spec.summary,
      ...(query !== undefined && { querystring: query }),
      ...(params !== undefined && { params }),
      ...(body !== undefined && { body }),
      ...(answer !== undefined && { response: { [answer.status]: answer.shape } }),
    },
    handle: (request, reply) => {
      if (answer !== undefined) reply.code(answer.status);
      return spec.handle({
        query: request.query as Q,
        params: request.params as P,
        body: request.body as B,
        by: holderOf(request),
        request,
        reply,
      });
    },
  };
}
