/** The routes of the admin listener, as one table: what is not in it does not exist. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../telemetry/metrics.js';

/** Whether the gateway takes requests, and with what state behind it. */
export interface Readiness {
  readonly phase: 'starting' | 'serving' | 'draining';
  /** Where sessions and bans live: in this process, shared with others, or shared and out of reach. */
  readonly state: 'memory' | 'shared' | 'degraded';
  /** Figures for people, such as the number of usable exits. */
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
}

/** What the routes show. */
export interface AdminParts {
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>;
  readonly readiness: () => Readiness;
  /** Names that requests may call this listener by, besides loopback names and its own addresses. */
  readonly hosts?: readonly string[];
}

/** One route. */
export interface AdminRoute {
  readonly method: 'GET';
  readonly path: string;
  readonly summary: string;
  handle(request: FastifyRequest, reply: FastifyReply): unknown;
}

/** The table for these parts. */
export function adminRoutes(parts: AdminParts): readonly AdminRoute[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics in the text form of Prometheus.',
      handle: async (_request, reply) =>
        reply.type(parts.metrics.contentType).send(await parts.metrics.render()),
    },
    {
      method: 'GET',
      path: '/healthz',
      summary: '200 as long as the process is alive.',
      handle: () => ({ status: 'alive' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      summary: '200 while requests are served, 503 before and after.',
      handle: (_request, reply) => {
        const { phase, state, detail = {} } = parts.readiness();
        return reply.code(phase === 'serving' ? 200 : 503).send({ phase, state, ...detail });
      },
    },
  ];
}
