/** One route of the API: what it takes and gives as zod schemas, and a handler that gets what was checked. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { holderOf } from './gate.js';
import type { ProblemCode } from './problem-codes.js';

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

/** What is told of a route beside its schemas. */
export interface RouteTraits {
  /** Problems that it may answer with beside those that its shape brings along. */
  readonly problems?: readonly ProblemCode[];
  /** Types of a body that is text and not JSON; the handler gets a Buffer. */
  readonly textTypes?: readonly string[];
  /** Most bytes of the body; 64 KiB when left out. */
  readonly mostBytes?: number;
  /** Whether a repetition with the same Idempotency-Key gets the answer of the first (`once.ts`). */
  readonly isOnce?: boolean;
}

/** A route as the server wants it. */
export interface ApiRoute extends RouteTraits {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly schema: Readonly<Record<string, unknown>>;
  handle(request: FastifyRequest, reply: FastifyReply): unknown;
}

/** A route as one writes it down. */
export interface RouteSpec<Q, P, B> extends RouteTraits {
  readonly method: ApiRoute['method'];
  readonly path: string;
  readonly summary: string;
  readonly query?: z.ZodType<Q>;
  readonly params?: z.ZodType<P>;
  readonly body?: z.ZodType<B>;
  /** Fields of the head that mean something here. */
  readonly headers?: z.ZodType;
  /** Status and shape of a good answer; what is not in the shape is left out of the answer. */
  readonly answer?: { readonly status: number; readonly shape: z.ZodType };
  readonly handle: (asked: Asked<Q, P, B>) => unknown;
}

/** Makes a route of its description. */
export function route<Q = unknown, P = unknown, B = unknown>(spec: RouteSpec<Q, P, B>): ApiRoute {
  const { method, path, summary, query, params, body, headers, answer, handle, ...traits } = spec;
  return {
    ...{ ...traits, method, path },
    schema: {
      summary,
      ...(query !== undefined && { querystring: query }),
      ...(params !== undefined && { params }),
      ...(body !== undefined && { body }),
      ...(headers !== undefined && { headers }),
      ...(answer !== undefined && { response: { [answer.status]: answer.shape } }),
    },
    handle: (request, reply) => {
      if (answer !== undefined) reply.code(answer.status);
      return handle({
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
