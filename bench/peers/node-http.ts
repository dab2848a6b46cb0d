/**
 * Peer `node-http`: the minimal gateway on `node:http`, with a keep-alive agent towards the upstream.
 * No auth, no log, no metrics.
 */
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { listen, upstreamAuthorization, upstreamPort } from './listen.js';

const agent = new Agent({ keepAlive: true, maxFreeSockets: 1024 });
const upstream = { host: '127.0.0.1', port: upstreamPort };

const server = createServer({ noDelay: true }, forward);
server.on('connect', openTunnel);
listen(server);

function onwardHeaders(incoming: IncomingMessage): Record<string, string | string[]> {
  const {
    'x-session-id': _session,
    'proxy-connection': _connection,
    connection: _own,
    ...rest
  } = incoming.headers;
  return { ...(rest as Record<string, string | string[]>), 'proxy-authorization': upstreamAuthorization };
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const onward = request({
    ...upstream,
    agent,
    path: incoming.url ?? '/',
    method: incoming.method ?? 'GET',
    headers: onwardHeaders(incoming),
  });
  onward.on('response', (answer) => {
    const { connection: _theirs, ...headers } = answer.headers;
    outgoing.writeHead(answer.statusCode ?? 502, headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}

function openTunnel(incoming: IncomingMessage, client: Duplex, early: Buffer): void {
  const onward = request({
    ...upstream,
    agent: false,
    method: 'CONNECT',
    path: incoming.url ?? '',
    headers: onwardHeaders(incoming),
  });
  onward.on('connect', (answer, socket, first) => {
    client.write(`HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ''}\r\n\r\n`);
    if (first.length > 0) client.write(first);
    if (early.length > 0) socket.write(early);
    socket.pipe(client).pipe(socket);
    socket.on('error', () => client.destroy());
    client.on('error', () => socket.destroy());
  });
  onward.on('error', () => client.destroy());
  onward.end();
}
