/**
 * Peer `undici`: node:http towards the client, an undici pool towards the upstream.
 * No auth, no log, no metrics.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Client, Pool } from 'undici';
import { listen, upstreamAuthorization, upstreamPort } from './listen.js';

const origin = `http://127.0.0.1:${upstreamPort}`;
const pool = new Pool(origin, { connections: 256, pipelining: 1 });
const DROPPED = new Set([
  'x-session-id',
  'proxy-connection',
  'connection',
  'proxy-authorization',
  'keep-alive',
]);

const server = createServer({ noDelay: true }, forward);
server.on('connect', (incoming, client, early) => {
  openTunnel(incoming, client, early).catch(() => client.destroy());
});
listen(server);

function onwardFields(raw: string[]): string[] {
  const fields = ['Proxy-Authorization', upstreamAuthorization];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (!DROPPED.has(name.toLowerCase())) fields.push(name, raw[at + 1] ?? '');
  }
  return fields;
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const method = incoming.method ?? 'GET';
  const hasBody =
    incoming.headers['content-length'] !== undefined || incoming.headers['transfer-encoding'] !== undefined;
  const request = {
    path: incoming.url ?? '/',
    method,
    headers: onwardFields(incoming.rawHeaders),
    body: hasBody ? incoming : null,
  };
  pool.dispatch(request, {
    onRequestStart() {
      // Required by undici; there is nothing to abort here.
    },
    onResponseStart(_controller, status, headers) {
      delete headers['connection'];
      delete headers['keep-alive'];
      outgoing.writeHead(status, headers);
    },
    onResponseData(controller, chunk) {
      if (outgoing.write(chunk)) return;
      controller.pause();
      outgoing.once('drain', () => controller.resume());
    },
    onResponseEnd() {
      outgoing.end();
    },
    onResponseError() {
      outgoing.destroy();
    },
  });
}

async function openTunnel(incoming: IncomingMessage, client: Duplex, early: Buffer): Promise<void> {
  // A tunnel uses its connection up, so each has a client of its own.
  const dialler = new Client(origin);
  const path = incoming.url ?? '';
  const { socket } = await dialler.connect({
    path,
    headers: { 'proxy-authorization': upstreamAuthorization },
  });
  client.write('HTTP/1.1 200 OK\r\n\r\n');
  if (early.length > 0) socket.write(early);
  socket.pipe(client).pipe(socket);
  socket.on('error', () => client.destroy());
  client.on('error', () => socket.destroy());
}
