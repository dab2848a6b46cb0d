/**
 * The admin listener: metrics, health and the API. Apart from the data plane in everything: its own server, its own
 * timeouts, its own table of routes.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import type { Secret } from '../core/secret.js';
import { readBodies, readTexts } from './bodies.js';
import { failed, notFound } from './failures.js';
import { gate } from './gate.js';
import { describeApi, openApiRoute } from './openapi.js';
import { refuseMalformed } from './problem.js';
import { adminRoutes } from './route-table.js';
import type { AdminParts } from './route-table.js';
import type { ApiRoute } from './route.js';
import { listenOnSocket } from './socket-file.js';

export type { AdminParts, Readiness } from './route-table.js';

const headerTimeoutMs = 5000;
const requestTimeoutMs = 10_000;
const keepAliveMs = 15_000;
/** Enough for a token of any length that somebody tries, which is answered 401 like any other wrong one (Z07). */
const mostHeadBytes = 80 * 1024;
const mostBodyBytes = 64 * 1024;
const mostConnections = 256;

/** A certificate with its key, both as PEM. */
export interface AdminTls {
  readonly cert: string;
  readonly key: Secret;
}

/** The admin server as `app.ts` sees it. */
export interface AdminServer {
  /** Listens; port 0 takes a free one. Rejects with the system's error, such as EADDRINUSE. */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** Listens on a socket in the file system, which only its owner may use. */
  listenSocket(path: string): Promise<void>;
  /** Stops, and cuts what is open. */
  close(): Promise<void>;
  /** Answers so far, by class of status. */
  answers(): ReadonlyMap<string, number>;
}

/** What a server is made of beside its parts. */
export interface ServerOptions {
  readonly tls?: AdminTls | null;
  /** The routes; those of the table when left out. */
  readonly routes?: readonly ApiRoute[];
}

function boundedServer(tls: AdminTls | null) {
  return (handler: (request: IncomingMessage, response: ServerResponse) => void) => {
    const bounds = {
      headersTimeout: headerTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: mostHeadBytes,
    };
    const server =
      tls === null
        ? createServer(bounds, handler)
        : createTlsServer(
            {
              ...bounds,
              cert: tls.cert,
              key: tls.key.reveal(),
              minVersion: 'TLSv1.2',
              handshakeTimeout: 5000,
            },
            handler,
          );
    server.maxConnections = mostConnections;
    return server;
  };
}

async function buildServer(parts: AdminParts, options: ServerOptions): Promise<FastifyInstance> {
  const server = fastify({
    logger: false,
    bodyLimit: mostBodyBytes,
    forceCloseConnections: true,
    clientErrorHandler: refuseMalformed,
    serverFactory: boundedServer(options.tls ?? null),
    routerOptions: { maxParamLength: 512 },
  });
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  readBodies(server);
  const hosts = new Set((parts.hosts ?? []).map((host) => host.toLowerCase()));
  const tokens = parts.api?.tokens ?? null;
  const clientOf = (authorization: string, remoteAddress: string): Promise<string | null> =>
    parts.api?.services.clientOf(authorization, remoteAddress) ?? Promise.resolve(null);
  server.addHook('onRequest', gate({ hosts, tokens, clientOf, metrics: parts.metricsFor ?? 'loopback' }));
  const routes = options.routes ?? adminRoutes(parts);
  server.setNotFoundHandler(notFound(routes));
  server.setErrorHandler(failed(parts.onFailure));
  const declared = parts.api === undefined ? routes : [...routes, openApiRoute(server)];
  await describeApi(server, declared);
  for (const each of declared) {
    const { method, path: url, schema, mostBytes: bodyLimit = mostBodyBytes } = each;
    const options = { method, url, schema, bodyLimit };
    const handler = (request: FastifyRequest, reply: FastifyReply): unknown => each.handle(request, reply);
    await server.register(async (scope) => {
      readTexts(scope, each.textTypes ?? []);
      scope.route({ ...options, handler });
    });
  }
  return server;
}

/** Makes the admin server; nothing listens before `listen`. */
export function createAdminServer(parts: AdminParts, options: ServerOptions = {}): AdminServer {
  const names = [...(parts.hosts ?? [])];
  // All there from the start: the number of series must not grow with the traffic.
  const counts = new Map(['2xx', '3xx', '4xx', '5xx'].map((status) => [status, 0]));
  let server: FastifyInstance | null = null;
  const build = async (hosts: readonly string[]): Promise<FastifyInstance> => {
    server = await buildServer({ ...parts, hosts }, options);
    server.addHook('onResponse', async (_request, reply) => {
      const status = `${Math.floor(reply.statusCode / 100)}xx`;
      counts.set(status, (counts.get(status) ?? 0) + 1);
    });
    return server;
  };
  return {
    async listen(host, port) {
      const isAny = host === '0.0.0.0' || host === '::';
      const built = await build(isAny ? names : [...names, host]);
      await built.listen({ host, port });
      const address = built.server.address() as AddressInfo;
      return { host: address.address, port: address.port };
    },
    async listenSocket(path) {
      await listenOnSocket(await build(names), path);
    },
    async close() {
      await server?.close();
    },
    answers: () => counts,
  };
}
