/**
 * One keep-alive client connection to the gateway that sends GETs one after the other and checks each answer.
 */
import { connect, type Socket } from 'node:net';
import type { GetJob, PacedJob } from '../support/job.js';
import { TARGET, basic } from '../support/wire.js';
import { AnswerReader } from './answer.js';

export interface GetEvents {
  /** The answer came and was right, or `fault` says what was wrong (the connection is then gone). */
  finished: (fault?: string) => void;
  /** The gateway had closed the connection between two requests. */
  reconnected: () => void;
}

const READ_BUFFER = Buffer.allocUnsafe(262_144);

export class GetConnection {
  readonly #job: GetJob | PacedJob;
  readonly #slot: number;
  readonly #events: GetEvents;
  readonly #reader: AnswerReader;
  readonly #tail: string;
  #socket: Socket | undefined;
  #isBusy = false;
  #sent = 0;

  constructor(job: GetJob | PacedJob, slot: number, events: GetEvents) {
    this.#job = job;
    this.#slot = slot;
    this.#events = events;
    this.#reader = new AnswerReader(job.size);
    this.#tail =
      ` HTTP/1.1\r\nHost: ${TARGET}\r\nProxy-Authorization: ${basic(job.gateway.login)}\r\nX-Session-Id: s-${slot}\r\n` +
      'User-Agent: Mozilla/5.0 (X11; Linux x86_64) bench/1.0\r\nAccept: text/html,*/*;q=0.8\r\n' +
      'Accept-Language: en\r\nProxy-Connection: keep-alive\r\n\r\n';
  }

  /** Sends the next request. Only after the last one has finished. */
  send(): void {
    const id = `${this.#slot}-${this.#sent++}`;
    const [path = '', query] = this.#job.path.split('?');
    const more = query === undefined ? '' : `&${query}`;
    this.#isBusy = true;
    this.#reader.expect(id);
    this.#socket ??= this.#open();
    this.#socket.write(`GET http://${TARGET}${path}?n=${id}${more}${this.#tail}`, 'latin1');
  }

  /** Ends the connection. */
  close(): void {
    this.#socket?.end();
  }

  #open(): Socket {
    const socket = connect({
      port: this.#job.gateway.port,
      host: '127.0.0.1',
      noDelay: true,
      // The reader is done with the bytes when it returns, so all connections can share one buffer.
      onread: {
        buffer: READ_BUFFER,
        callback: (length) => {
          this.#onBytes(socket, READ_BUFFER.subarray(0, length));
          return true;
        },
      },
    });
    socket.on('error', (error) => this.#lost(socket, error.message));
    socket.on('close', () => this.#lost(socket, 'the connection was closed before the answer was complete'));
    return socket;
  }

  #onBytes(socket: Socket, bytes: Buffer): void {
    if (socket !== this.#socket) return;
    const progress = this.#isBusy
      ? this.#reader.push(bytes)
      : { kind: 'fault' as const, reason: 'bytes nobody asked for' };
    if (progress.kind === 'more') return;
    if (progress.kind === 'fault') {
      this.#lost(socket, progress.reason);
      socket.destroy();
      return;
    }
    if (progress.closes) {
      this.#socket = undefined;
      socket.end();
      this.#events.reconnected();
    }
    this.#isBusy = false;
    this.#events.finished();
  }

  #lost(socket: Socket, reason: string): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    if (!this.#isBusy) {
      this.#events.reconnected();
      return;
    }
    this.#isBusy = false;
    this.#events.finished(reason);
  }
}
