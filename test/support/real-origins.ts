/**
 * Origins to crawl: a real node:http or node:https server whose answers are known beforehand, and which
 * counts what reached it. Certificates come from the openssl program, so that nothing of ours signs them.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { WebSocketServer } from 'ws';

const run = promisify(execFile);

/** A certificate with its key, and the test authority that signed it. */
export interface TestCertificate {
  caPath: string;
  certPath: string;
  keyPath: string;
  ca: string;
  cert: string;
  key: string;
  /** Deletes the files; the texts stay usable. */
  dispose(): Promise<void>;
}

const defaultNames = ['localhost', 'origin.test', '127.0.0.1', '::1'];

/**
 * Makes a fresh authority and a P-256 certificate for these names and addresses.
 * @param days how long it is valid; a negative number makes one that has expired
 */
export async function makeCertificate(
  names: readonly string[] = defaultNames,
  days = 2,
): Promise<TestCertificate> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-cert-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => run('openssl', args, { cwd: folder });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const altNames = names.map((name) => `${/^[\d.]+$|:/.test(name) ? 'IP' : 'DNS'}:${name}`).join(',');
  await writeFile(
    at('leaf.ext'),
    `subjectAltName=${altNames}\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n`,
  );
  const authority = [
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=Turnpike test authority',
  ];
  await openssl('req', '-x509', ...newKey, ...authority, '-addext', 'keyUsage=critical,keyCertSign,cRLSign');
  await openssl(
    'req',
    ...newKey,
    '-keyout',
    'leaf.key',
    '-out',
    'leaf.csr',
    '-subj',
    `/CN=${names[0] ?? 'test'}`,
  );
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', String(days)];
  await openssl('x509', '-req', '-in', 'leaf.csr', ...signing, '-extfile', 'leaf.ext', '-out', 'leaf.pem');
  const [ca, cert, key] = await Promise.all(
    ['ca.pem', 'leaf.pem', 'leaf.key'].map((name) => readFile(at(name), 'utf8')),
  );
  if (ca === undefined || cert === undefined || key === undefined)
    throw new Error('openssl wrote no certificate');
  return {
    ...{ caPath: at('ca.pem'), certPath: at('leaf.pem'), keyPath: at('leaf.key'), ca, cert, key },
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
}

// A prime length, so that a piece lost or doubled at any buffer size changes the hash.
const patternBytes = 65_521;
const pattern = Buffer.alloc(patternBytes);
for (let at = 0; at < patternBytes; at += 32) {
  createHash('sha256').update(`turnpike ${at}`).digest().copy(pattern, at);
}

function* pieces(total: number): Generator<Buffer> {
  for (let sent = 0; sent < total; sent += patternBytes)
    yield pattern.subarray(0, Math.min(patternBytes, total - sent));
}

/** The SHA-256, in hex, of what `/bytes/<total>` serves. */
export function sha256OfBytes(total: number): string {
  const hash = createHash('sha256');
  for (const piece of pieces(total)) hash.update(piece);
  return hash.digest('hex');
}

async function serveBytes(response: ServerResponse, total: number): Promise<void> {
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': String(total),
    'x-sha256': sha256OfBytes(total),
  });
  for (const piece of pieces(total)) {
    if (!response.write(piece)) await drained(response);
    if (response.destroyed) return;
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
}

/** What `/echo` answers with, as JSON. */
export interface Echo {
  method: string;
  url: string;
  rawHeaders: string[];
  bodyBytes: number;
  bodySha256: string;
}

async function serveEcho(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hash = createHash('sha256');
  let bodyBytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    hash.update(piece);
    bodyBytes += piece.length;
  }
  const echo: Echo = {
    method: request.method ?? '',
    url: request.url ?? '',
    rawHeaders: request.rawHeaders,
    bodyBytes,
    bodySha256: hash.digest('hex'),
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(echo));
}

function serveChunks(response: ServerResponse, count: number): void {
  response.writeHead(200, { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' });
  for (let n = 0; n < count; n++) response.write(`chunk ${n}\n`);
  response.end();
}

function serveText(response: ServerResponse, status: number, text: string): void {
  // These have no body, whatever we would like to say.
  const bodiless = status === 204 || status === 304;
  response.writeHead(status, bodiless ? {} : { 'content-type': 'text/plain', 'content-length': text.length });
  response.end(bodiless ? undefined : text);
}

/** Answers one request by its path; see `startOrigin` for the list. */
async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://origin.test');
  const [, name = '', value = ''] = url.pathname.split('/');
  if (name === 'echo') return serveEcho(request, response);
  request.resume();
  switch (name) {
    case 'ip':
      return serveText(response, 200, (request.socket.remoteAddress ?? '').replace(/^::ffff:/, ''));
    case 'bytes':
      return serveBytes(response, Number(value));
    case 'status':
      return serveText(response, Number(value), `status ${value}\n`);
    case 'redirect':
      response.writeHead(302, { location: url.pathname.slice('/redirect'.length), 'content-length': '0' });
      response.end();
      return;
    case 'chunked':
      return serveChunks(response, Number(value));
    case 'slow': {
      const timer = setTimeout(
        () => {
          serveText(response, 200, 'slow\n');
        },
        Number(url.searchParams.get('ms')),
      );
      response.once('close', () => {
        clearTimeout(timer);
      });
      return;
    }
    default:
      return serveText(response, name === '' ? 200 : 404, name === '' ? 'origin\n' : 'no such path\n');
  }
}

function echoWebSockets(server: http.Server): void {
  new WebSocketServer({ server }).on('connection', (socket) => {
    socket.on('message', (message, isBinary) => {
      socket.send(message, { binary: isBinary });
    });
  });
}

/** A running origin. */
export interface Origin {
  /** Without a path and a trailing slash. */
  url: string;
  host: string;
  port: number;
  /** Counted since the start: requests by path (with query), and accepted connections. */
  requests(): number;
  requestsTo(path: string): number;
  connections(): number;
  openConnections(): number;
  close(): Promise<void>;
}

/**
 * Starts an origin on a free port of `host` (127.0.0.1 when not given), over TLS when it gets a certificate.
 * Paths: `/` `/ip` (who connected), `/bytes/N` (known content, its hash in `X-Sha256`), `/status/N`,
 * `/echo` (an `Echo`), `/slow?ms=N` (the answer comes after N ms), `/chunked/N` (N chunks, no length),
 * `/redirect/…` (302 to what follows). With `echoesWebSockets` any path takes a WebSocket and echoes its messages.
 */
export async function startOrigin(
  options: {
    host?: string;
    certificate?: TestCertificate;
    handler?: RequestListener;
    echoesWebSockets?: boolean;
  } = {},
): Promise<Origin> {
  const host = options.host ?? '127.0.0.1';
  const seen = { requests: new Map<string, number>(), connections: 0 };
  const sockets = new Set<Socket>();
  const listener: RequestListener = (request, response) => {
    const path = request.url ?? '';
    seen.requests.set(path, (seen.requests.get(path) ?? 0) + 1);
    if (options.handler !== undefined) options.handler(request, response);
    else serve(request, response).catch(() => response.destroy());
  };
  const { certificate } = options;
  const server =
    certificate === undefined
      ? http.createServer(listener)
      : https.createServer({ cert: certificate.cert, key: certificate.key }, listener);
  if (options.echoesWebSockets === true) echoWebSockets(server);
  server.on('connection', (socket: Socket) => {
    seen.connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${certificate === undefined ? 'http' : 'https'}://${host}:${port}`,
    ...{ host, port },
    requests: () => [...seen.requests.values()].reduce((sum, count) => sum + count, 0),
    requestsTo: (path) => seen.requests.get(path) ?? 0,
    connections: () => seen.connections,
    openConnections: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of sockets) socket.destroy();
      }),
  };
}
