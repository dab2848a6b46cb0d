/**
 * Peer `bare`: the least a forward gateway on Node's sockets can do, and so the yardstick for ours.
 * Own head parsing, answers with Content-Length only, no auth, no log, no metrics, no time limits.
 */
import { connect, createServer, type Socket } from 'node:net';
import { listen, upstreamAuthorization, upstreamPort } from './listen.js';

const TUNNEL_BUFFER_BYTES = 65_536;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/** One connection to the upstream, lent to one client for one answer at a time. */
interface Onward {
  socket: Socket;
  onAnswer: ((chunk: Buffer) => void) | undefined;
  onLost: (() => void) | undefined;
}

const idle: Onward[] = [];

listen(createServer({ noDelay: true, allowHalfOpen: true }, serveClient));

function serveClient(client: Socket): void {
  let held: Buffer | undefined;
  let isBusy = false;
  const next = (): void => {
    isBusy = false;
    const bytes = held;
    held = undefined;
    if (bytes !== undefined) onData(bytes);
  };
  const onData = (chunk: Buffer): void => {
    const bytes = held === undefined ? chunk : Buffer.concat([held, chunk]);
    const end = isBusy ? -1 : bytes.indexOf(END_OF_HEAD);
    if (end < 0) {
      held = bytes;
      return;
    }
    held = end + 4 < bytes.length ? bytes.subarray(end + 4) : undefined;
    const head = bytes.toString('latin1', 0, end);
    isBusy = true;
    if (head.startsWith('CONNECT ')) {
      client.off('data', onData);
      openTunnel(client, head);
    } else {
      forward(client, head, next);
    }
  };
  client.on('data', onData);
  client.on('end', () => client.end());
  client.on('error', () => client.destroy());
}

/** The client's head with our login instead of the client's, and without the other field meant for us. */
function rebuild(head: string): string {
  const lines = head.split('\r\n');
  let out = `${lines[0] ?? ''}\r\n`;
  for (let at = 1; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    if (name === 'proxy-authorization' || name === 'proxy-connection' || name === 'x-session-id') continue;
    out += `${line}\r\n`;
  }
  return `${out}Proxy-Authorization: ${upstreamAuthorization}\r\n\r\n`;
}

function forward(client: Socket, head: string, done: () => void): void {
  const onward = idle.pop() ?? openOnward();
  let left = -1;
  let isLast = false;
  onward.onLost = () => client.destroy();
  onward.onAnswer = (chunk) => {
    if (left < 0) {
      const answer = readAnswerHead(chunk);
      if (answer === undefined) {
        client.destroy();
        onward.socket.destroy();
        return;
      }
      isLast = answer.isLast;
      left = answer.bodyBytes - (chunk.length - answer.headBytes);
      // The upstream's wish to close is between it and us.
      client.write(isLast ? withoutClose(chunk, answer.headBytes) : chunk);
    } else {
      left -= chunk.length;
      client.write(chunk);
    }
    if (client.writableLength >= client.writableHighWaterMark) {
      onward.socket.pause();
      client.once('drain', () => onward.socket.resume());
    }
    if (left > 0) return;
    onward.onAnswer = onward.onLost = undefined;
    if (isLast) onward.socket.end();
    else idle.push(onward);
    done();
  };
  onward.socket.write(rebuild(head), 'latin1');
}

function readAnswerHead(
  chunk: Buffer,
): { headBytes: number; bodyBytes: number; isLast: boolean } | undefined {
  const end = chunk.indexOf(END_OF_HEAD);
  const head = chunk.toString('latin1', 0, end).toLowerCase();
  const field = head.indexOf('\r\ncontent-length:');
  if (end < 0 || field < 0) return undefined;
  const bodyBytes = Number.parseInt(head.slice(field + 17), 10);
  return { headBytes: end + 4, bodyBytes, isLast: head.includes('\r\nconnection: close') };
}

function withoutClose(chunk: Buffer, headBytes: number): Buffer {
  const head = chunk.toString('latin1', 0, headBytes).replace(/\r\nconnection: close/i, '');
  return Buffer.concat([Buffer.from(head, 'latin1'), chunk.subarray(headBytes)]);
}

function openOnward(): Onward {
  const socket = connect({ port: upstreamPort, host: '127.0.0.1', noDelay: true });
  const onward: Onward = { socket, onAnswer: undefined, onLost: undefined };
  socket.on('data', (chunk: Buffer) => onward.onAnswer?.(chunk));
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    const at = idle.indexOf(onward);
    if (at >= 0) idle.splice(at, 1);
    onward.onLost?.();
  });
  return onward;
}

function openTunnel(client: Socket, head: string): void {
  let isOpen = false;
  const onward = connect({
    port: upstreamPort,
    host: '127.0.0.1',
    noDelay: true,
    allowHalfOpen: true,
    onread: {
      buffer: Buffer.allocUnsafe(TUNNEL_BUFFER_BYTES),
      callback: (length, buffer) => {
        // The kernel may not take the bytes at once, and the buffer is used again for the next read.
        client.write(buffer.subarray(0, length), resumeOnward);
        if (!isOpen) {
          isOpen = true;
          client.on('data', (chunk: Buffer) => {
            if (!onward.write(chunk)) client.pause();
          });
          onward.on('drain', () => client.resume());
        }
        return client.writableLength === 0;
      },
    },
  });
  const resumeOnward = (): void => {
    onward.resume();
  };
  onward.write(rebuild(head), 'latin1');
  onward.on('end', () => client.end());
  client.on('end', () => onward.end());
  onward.on('error', () => onward.destroy());
  onward.on('close', () => client.destroy());
  client.on('close', () => onward.destroy());
}
