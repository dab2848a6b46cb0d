/**
 * An exit for load: answers thousands of connections by the path alone and remembers none of them.
 * `/N` is a page of N known bytes, `/N/MS` the same after MS milliseconds; a tunnel to `bytes-N.test` brings N bytes
 * and ends, any other one echoes; a POST is read and never answered. No faster than it is read.
 */
import { createHash } from 'node:crypto';
import net from 'node:net';
import { seededRandom } from '../../src/core/random.js';

const PATTERN_BYTES = 64 * 1024;
const chance = seededRandom(17);
const pattern = Buffer.from(Array.from({ length: PATTERN_BYTES }, () => chance.below(256)));

/** Hash of the first `count` bytes of every page and tunnel. */
export function hashOfBytes(count: number): string {
  const hash = createHash('sha256');
  for (let sent = 0; sent < count; sent += PATTERN_BYTES) hash.update(pattern.subarray(0, count - sent));
  return hash.digest('hex');
}

/** The exit. */
export interface LoadExit {
  readonly url: string;
  readonly port: number;
  /** Connections that are open now. */
  open(): number;
  close(): Promise<void>;
}

/** Starts one. */
export async function startLoadExit(): Promise<LoadExit> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.end());
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}`, port, open: () => sockets.size },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

function serve(socket: net.Socket): void {
  let text = '';
  const onData = (chunk: Buffer): void => {
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
      const head = text.slice(0, end);
      text = text.slice(end + 4);
      if (head.startsWith('CONNECT ')) {
        socket.off('data', onData);
        openTunnel(socket, head, text);
        return;
      }
      if (!head.startsWith('POST ')) answer(socket, head);
    }
    // The rest of a body that somebody uploads; it is of no interest.
    if (text.length > PATTERN_BYTES) text = '';
  };
  socket.on('data', onData);
}

function answer(socket: net.Socket, head: string): void {
  const [, count = '0', waitMs = '0'] = /^\S+ (?:http:\/\/[^/ ]*)?\/(\d+)(?:\/(\d+))?/.exec(head) ?? [];
  const send = (): void => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${count}\r\n\r\n`);
    push(socket, Number(count));
  };
  if (waitMs === '0') send();
  else setTimeout(send, Number(waitMs));
}

function openTunnel(socket: net.Socket, head: string, early: string): void {
  socket.write('HTTP/1.1 200 OK\r\n\r\n');
  const count = /^CONNECT bytes-(\d+)\./.exec(head)?.[1];
  if (count !== undefined) push(socket, Number(count), () => socket.end());
  else {
    if (early !== '') socket.write(early, 'latin1');
    socket.on('data', (chunk: Buffer) => {
      if (!socket.write(chunk)) socket.pause();
    });
    socket.on('drain', () => socket.resume());
  }
}

/** Writes so many bytes of the pattern, waiting where the reader is slow. */
function push(socket: net.Socket, count: number, whenDone: () => void = () => undefined): void {
  let left = count;
  const more = (): void => {
    while (left > 0 && !socket.destroyed) {
      const piece = pattern.subarray(0, Math.min(left, PATTERN_BYTES));
      left -= piece.length;
      if (!socket.write(piece) && left > 0) {
        socket.once('drain', more);
        return;
      }
    }
    whenDone();
  };
  more();
}
