/**
 * The admin listener: metrics and health now, more with later versions. Apart from the data plane in everything:
 * its own server, its own timeouts, its own table of routes.
 */
import { STATUS_CODES, createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import fastify from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { misdirection } from './host-check.js';
import { adminRoutes } from './route-table.js';
import type { AdminParts } from './route-table.js';

export type { AdminParts, Readiness } from './route-table.js';

const headerTimeoutMs = 5000;
const requestTimeoutMs = 10_000;
const keepAliveMs = 15_000;
const mostHeadBytes = 16 * 1024;
const mostBodyBytes = 64 * 1024;
const mostConnections = 256;

/** The admin server as `app.ts` sees it. */
export interface AdminServer {
  /** Listens; port 0 takes a free one. Rejects with the system's error, such as EADDRINUSE. */
  listen(host: string, port: number): Promise<{ readonly host: string; readonly port: number }>;
  /** Stops, and cuts what is open. */
  close(): Promise<void>;
}

const titles: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  404: 'There is no such page.',
  405: 'This page can not be asked for in that way.',
  408: 'The request did not arrive in time.',
  413: 'The request is too large.',
  415: 'The request is of a type that is not understood.',
  431: 'The head of the request is too large.',
  421: 'The request was meant for somebody else.',
  500: 'The admin server failed.',
};

const malformedStatus = new Map([
  ['HPE_HEADER_OVERFLOW', 431],
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
]);

function sendProblem(reply: FastifyReply, status: number, detail: string): FastifyReply {
  const title = titles[status] ?? 'The request failed.';
  const body = JSON.stringify({ type: 'about:blank', title, status, detail });
  return reply.code(status).type('application/problem+json').send(body);
}

/** Answers what Node's parser refuses, in the same form as everything else. */
function refuseMalformed(error: Error & { code?: string }, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = malformedStatus.get(error.code ?? '') ?? 400;
  const title = titles[status] ?? 'The request is malformed.';
  const body = JSON.stringify({
    type: 'about:blank',
    title,
    status,
    detail: 'The request could not be read.',
  });
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/problem+json`;
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
}

function hostFields(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host');
}

function guard(names: ReadonlySet<string>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    const { raw } = request;
    const called = {
      target: raw.url ?? '',
      hosts: hostFields(raw.rawHeaders),
      localAddress: raw.socket.localAddress ?? '',
    };
    const detail = misdirection(called, names);
    return detail === null ? undefined : sendProblem(reply, 421, detail);
  };
}

function boundedServer(handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(
    {
      headersTimeout: headerTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: 1000,
      maxHeaderSize: mostHeadBytes,
    },
    handler,
  );
  server.maxConnections = mostConnections;
  return server;
}

function buildServer(parts: AdminParts): FastifyInstance {
  const server = fastify({
    logger: false,
    bodyLimit: mostBodyBytes,
    forceCloseConnections: true,
    clientErrorHandler: refuseMalformed,
    serverFactory: boundedServer,
  });
  const names = new Set((parts.hosts ?? []).map((host) => host.toLowerCase()));
  server.addHook('onRequest', guard(names));
  server.setNotFoundHandler((request, reply) => {
    const isKnown = adminRoutes(parts).some((route) => route.path === request.url.split('?')[0]);
    return sendProblem(
      reply,
      isKnown ? 405 : 404,
      isKnown ? 'Only GET is understood here.' : 'See docs/metrics.md.',
    );
  });
  server.setErrorHandler((error, _request, reply) => {
    const status =
      error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number'
        ? error.statusCode
        : 500;
    // What failed inside is not for whoever asks; the log of the caller's side has its own view.
    return sendProblem(
      reply,
      status >= 400 && status < 500 ? status : 500,
      'The request could not be served.',
    );
  });
  for (const route of adminRoutes(parts)) {
    server.route({
      method: route.method,
      url: route.path,
      handler: (request, reply) => route.handle(request, reply),
    });
  }
  return server;
}

/** Makes the admin server; nothing listens before `listen`. */
export function createAdminServer(parts: AdminParts): AdminServer {
  const names = [...(parts.hosts ?? [])];
  let server: FastifyInstance | null = null;
  return {
    async listen(host, port) {
      const isAny = host === '0.0.0.0' || host === '::';
      server = buildServer({ ...parts, hosts: isAny ? names : [...names, host] });
      await server.listen({ host, port });
      const address = server.server.address() as AddressInfo;
      return { host: address.address, port: address.port };
    },
    async close() {
      await server?.close();
    },
  };
}
