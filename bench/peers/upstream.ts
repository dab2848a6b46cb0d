/**
 * The scripted upstream proxy with the origin inside: answers absolute-form GET itself, serves CONNECT itself.
 * Cheap enough not to be the bottleneck; strict about the login, so that a gateway without one fails loudly.
 * The language of paths and tunnel lines is in support/wire.ts.
 */
import { createServer, type Socket } from 'node:net';
import { BULK_COMMAND, PATTERN, PATTERN_BYTES, UPSTREAM_LOGIN, basic } from '../support/wire.js';

const LOGIN_LINE = `\r\nproxy-authorization: ${basic(UPSTREAM_LOGIN)}\r\n`;
const LOGIN_LINE_LOWER = LOGIN_LINE.toLowerCase();
const REFUSAL =
  'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="up"\r\nContent-Length: 0\r\n\r\n';
const STRANGE = 'HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
const STREAM_BLOCK = Buffer.concat([PATTERN, PATTERN, PATTERN, PATTERN]);
const SMALL_BODIES = new Map<number, string>();

const server = createServer({ noDelay: true }, (socket) => {
  socket.on('error', () => socket.destroy());
  serveHttp(socket);
});
server.listen(Number(process.env['BENCH_LISTEN'] ?? 0), '127.0.0.1', 4096, () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(`listening ${address.port}`);
});
process.on('SIGTERM', () => process.exit(0));

function serveHttp(socket: Socket): void {
  let held = '';
  const onData = (chunk: Buffer): void => {
    held += chunk.toString('latin1');
    for (let end = held.indexOf('\r\n\r\n'); end >= 0; end = held.indexOf('\r\n\r\n')) {
      const head = held.slice(0, end + 2);
      held = held.slice(end + 4);
      if (!isLoggedIn(head)) {
        socket.write(REFUSAL);
      } else if (head.startsWith('CONNECT ')) {
        socket.off('data', onData);
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n', 'latin1');
        serveTunnel(socket, held);
        return;
      } else {
        answer(socket, head);
      }
    }
  };
  socket.on('data', onData);
}

function isLoggedIn(head: string): boolean {
  // The field name may come in any case, the value may not.
  const at = head.toLowerCase().indexOf(LOGIN_LINE_LOWER);
  return at >= 0 && head.slice(at, at + LOGIN_LINE.length).endsWith(LOGIN_LINE.slice(23));
}

function answer(socket: Socket, head: string): void {
  const asked = /^GET http:\/\/[^/ ]+\/(\d+)(\.html)?\?n=([\w-]+)(&close)? HTTP\/1\.1\r\n/.exec(head);
  if (asked === null) {
    socket.end(STRANGE);
    return;
  }
  const size = Number(asked[1]);
  const type = asked[2] === undefined ? 'application/octet-stream' : 'text/html';
  const close = asked[4] === undefined ? '' : 'Connection: close\r\n';
  const fields = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${size}\r\nX-Bench-Id: ${asked[3]}\r\n${close}\r\n`;
  if (size <= 4096) {
    socket.write(fields + smallBody(size), 'latin1');
  } else {
    socket.cork();
    socket.write(fields, 'latin1');
    socket.write(STREAM_BLOCK.subarray(0, size));
    socket.uncork();
  }
  if (close !== '') socket.end();
}

function smallBody(size: number): string {
  let body = SMALL_BODIES.get(size);
  if (body === undefined) {
    body = PATTERN.toString('latin1', 0, size);
    SMALL_BODIES.set(size, body);
  }
  return body;
}

function serveTunnel(socket: Socket, early: string): void {
  let held = early;
  const serveLines = (): void => {
    const end = held.indexOf('\n');
    if (end < 0) return;
    const line = held.slice(0, end + 1);
    held = held.slice(end + 1);
    if (line.startsWith(BULK_COMMAND)) {
      stream(socket, Number(line.slice(BULK_COMMAND.length)));
    } else {
      socket.write(line, 'latin1');
    }
    serveLines();
  };
  socket.on('data', (chunk: Buffer) => {
    held += chunk.toString('latin1');
    serveLines();
  });
  serveLines();
}

/** Writes `size` bytes of pattern, the next block when the last was taken by the kernel. A block is a whole number of patterns. */
function stream(socket: Socket, size: number): void {
  if (size <= 0 || socket.destroyed) return;
  const block = size >= STREAM_BLOCK.length ? STREAM_BLOCK : STREAM_BLOCK.subarray(0, size);
  socket.write(block, () => stream(socket, size - block.length));
}

if (STREAM_BLOCK.length % PATTERN_BYTES !== 0) throw new Error('a block must hold whole patterns');
