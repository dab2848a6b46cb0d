/**
 * Who may come in: meant for this listener (`host-check.ts`), with a token that is good for the route (`scopes.ts`).
 * Stands before everything else, so that nothing of a request is read that may not be asked.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TokenActor } from '../credentials/actor.js';
import { misdirection } from './host-check.js';
import { Problem, sendProblem } from './problem.js';
import { isForClients, isWithin, needOf } from './scopes.js';
import type { Scope } from './scopes.js';
import type { Holder, TokenBook } from './tokens.js';

/** What the gate judges by. */
export interface GateParts {
  /** Names that requests may call this listener by, besides loopback names and its own addresses. */
  readonly hosts: ReadonlySet<string>;
  /** Null where there are no tokens at all: then only open routes are served. */
  readonly tokens: TokenBook | null;
  readonly metrics: 'loopback' | 'public' | 'token';
  /** Name of the client with this login (an Authorization field with Basic), or null. */
  clientOf(authorization: string, remoteAddress: string): Promise<string | null>;
}

const mostTargetBytes = 8 * 1024;

const answerFields = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

function hostFields(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host');
}

/** Whether the other end is on this machine; a socket of the file system has no address and is. */
function isFromHere(address: string | undefined): boolean {
  if (address === undefined || address === '') return true;
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

const holders = new WeakMap<FastifyRequest, Holder>();
const clients = new WeakMap<FastifyRequest, string>();

/** The client whose login this request came with; null where it came with a token. */
export function clientIn(request: FastifyRequest): string | null {
  return clients.get(request) ?? null;
}

/** Whose token this request came with. */
export function holderOf(request: FastifyRequest): string {
  return holders.get(request)?.name ?? 'nobody';
}

/** Who asks, as the audit and the tokens of credentials know him. The address is the socket's, never one of a field. */
export function actorOf(request: FastifyRequest): TokenActor {
  const scopes = holders.get(request)?.scopes ?? [];
  const address = request.raw.socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? '';
  return {
    name: holderOf(request),
    address: address === '' ? 'unix' : address,
    isAdmin: scopes.includes('admin'),
  };
}

/** What this request wants; null where the route is not in the table. */
function needFor(request: FastifyRequest, parts: GateParts): Scope | 'open' | null {
  // Whoever may not look is not told either what there is.
  if (request.is404) return request.url.startsWith('/api/') ? 'read' : 'open';
  const need = needOf(request.method, request.routeOptions.url ?? '');
  if (need !== 'metrics') return need;
  const isHere = isFromHere(request.raw.socket.remoteAddress);
  return parts.metrics === 'public' || (parts.metrics === 'loopback' && isHere) ? 'open' : 'read';
}

/** The hook that stands before every route. */
export function gate(parts: GateParts) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    reply.headers(answerFields);
    const { raw } = request;
    const target = raw.url ?? '';
    const called = {
      target,
      hosts: hostFields(raw.rawHeaders),
      localAddress: raw.socket.localAddress ?? '',
    };
    const astray = misdirection(called, parts.hosts);
    if (astray !== null) return sendProblem(reply, new Problem('misdirected', astray));
    if (target.length > mostTargetBytes)
      return sendProblem(reply, new Problem('long_path', `At most ${mostTargetBytes} bytes are read.`));
    const need = needFor(request, parts);
    if (need === 'open') return undefined;
    if (await isClient(request, parts)) return undefined;
    const holder = parts.tokens?.holderOf(raw.headers.authorization) ?? null;
    if (holder === null) return unauthorized(request, reply);
    if (need === null || !isWithin(holder.scopes, need)) {
      const detail = need === null ? 'Nobody may use this route.' : `This wants the scope ${need}.`;
      return sendProblem(reply, new Problem('forbidden', detail));
    }
    holders.set(request, holder);
    return undefined;
  };
}

/** Whether the request comes with the login of a client, to a route that is for clients. */
async function isClient(request: FastifyRequest, parts: GateParts): Promise<boolean> {
  const { authorization } = request.raw.headers;
  if (authorization === undefined || !/^basic /i.test(authorization)) return false;
  if (!isForClients(request.method, request.routeOptions.url ?? '')) return false;
  // A socket of the file system has no address; whoever may open it is on this machine.
  const client = await parts.clientOf(authorization, request.raw.socket.remoteAddress ?? '127.0.0.1');
  if (client !== null) clients.set(request, client);
  return client !== null;
}

function unauthorized(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isTold = request.raw.headers.authorization !== undefined;
  reply.header('www-authenticate', `Bearer realm="turnpike admin"${isTold ? ', error="invalid_token"' : ''}`);
  return sendProblem(reply, new Problem('unauthorized', wantedOf(request)));
}

/** What would do, and, where a login of a client would, that this one is none. */
function wantedOf(request: FastifyRequest): string {
  const token = 'Authorization: Bearer and a token of the configuration';
  if (!isForClients(request.method, request.routeOptions.url ?? '')) return `Send ${token}.`;
  const isBasic = /^basic /i.test(request.raw.headers.authorization ?? '');
  const wrong = isBasic ? 'No client has this name and password. ' : '';
  return `${wrong}Send Authorization: Basic with the name and password of a client, or ${token}.`;
}
