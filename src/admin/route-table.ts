/** The routes of the admin listener: what is not here does not exist. What each of them wants is in `scopes.ts`. */
import type { Metrics } from '../telemetry/metrics.js';
import { route, type ApiRoute } from './route.js';
import { auditRoutes } from './routes/audit.js';
import { credentialImportRoutes } from './routes/credential-import.js';
import { credentialRoutes } from './routes/credentials.js';
import { keyRoutes } from './routes/keys.js';
import { liveTokenRoutes } from './routes/live-tokens.js';
import { policyRoutes } from './routes/policies.js';
import { tokenRoutes } from './routes/tokens.js';
import { banRoutes } from './routes/bans.js';
import { clientRoutes } from './routes/clients.js';
import { clusterRoutes } from './routes/cluster.js';
import { eventRoutes } from './routes/events.js';
import { overviewRoutes } from './routes/overview.js';
import { feedbackRoutes } from './routes/feedback.js';
import { siteRoutes } from './routes/sites.js';
import { reloadRoutes } from './routes/reload.js';
import { ruleRoutes } from './routes/rules.js';
import { sessionRoutes } from './routes/sessions.js';
import { upstreamRoutes } from './routes/upstreams.js';
import type { AdminServices } from './services.js';
import type { TokenBook } from './tokens.js';

/** Whether the gateway takes requests, and with what state behind it. */
export interface Readiness {
  readonly phase: 'starting' | 'serving' | 'draining';
  /** Where sessions and bans live: in this process, shared with others, or shared and out of reach. */
  readonly state: 'memory' | 'shared' | 'degraded';
  /** Whether every pool refuses to work as things stand. */
  readonly isRefusing?: boolean;
  /** More for people, such as the pools that have no exit. */
  readonly detail?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
}

/** The API and who may use it. */
export interface AdminApi {
  readonly services: AdminServices;
  readonly tokens: TokenBook;
}

/** What the routes show. */
export interface AdminParts {
  readonly metrics: Pick<Metrics, 'render' | 'contentType'>;
  readonly readiness: () => Readiness;
  /** Names that requests may call this listener by, besides loopback names and its own addresses. */
  readonly hosts?: readonly string[];
  /** Who reads /metrics without a token; `loopback` when left out. */
  readonly metricsFor?: 'loopback' | 'public' | 'token';
  /** Told of what failed inside while a route was served; whoever asked is told nothing of it. */
  readonly onFailure?: (route: string, error: unknown) => void;
  /** Without it there is no API. */
  readonly api?: AdminApi;
}

/** The table for these parts. */
export function adminRoutes(parts: AdminParts): readonly ApiRoute[] {
  return [...plainRoutes(parts), ...(parts.api === undefined ? [] : apiRoutes(parts.api.services))];
}

function plainRoutes(parts: AdminParts): ApiRoute[] {
  return [
    route({
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics in the text form of Prometheus.',
      handle: async ({ reply }) => reply.type(parts.metrics.contentType).send(await parts.metrics.render()),
    }),
    route({
      method: 'GET',
      path: '/healthz',
      summary: '200 as long as the process is alive.',
      handle: () => ({ status: 'alive' }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      summary: '200 while requests are served, 503 before and after.',
      handle: ({ reply }) => {
        const { phase, state, isRefusing = false, detail = {} } = parts.readiness();
        const isReady = phase === 'serving' && !isRefusing;
        return reply.code(isReady ? 200 : 503).send({ phase, state, ...detail });
      },
    }),
  ];
}

function apiRoutes(services: AdminServices): ApiRoute[] {
  return [
    ...overviewRoutes(services),
    ...upstreamRoutes(services),
    ...banRoutes(services),
    ...siteRoutes(services),
    ...clusterRoutes(services),
    ...clientRoutes(services),
    ...feedbackRoutes(services),
    ...ruleRoutes(services),
    ...sessionRoutes(services),
    ...eventRoutes(services),
    ...reloadRoutes(services),
    ...credentialRoutes(services),
    ...credentialImportRoutes(services),
    ...policyRoutes(services),
    ...tokenRoutes(services),
    ...liveTokenRoutes(services),
    ...auditRoutes(services),
    ...keyRoutes(services),
  ];
}
