/** Clients of a fuzz run, event by event: one that sends a stream and waits for the close, one that asks marked questions. */
import type net from 'node:net';
import { TLSSocket } from 'node:tls';
import { readAnswer } from './strict.js';

/** How a stream ended. */
export interface Heard {
  readonly text: string;
  /** The gateway did not close in time. */
  readonly hangs: boolean;
  readonly wasReset: boolean;
}

const HANG_MS = 10_000;

/** Sends the pieces, each in a turn of its own, and FIN behind them; resolves when the gateway has closed. */
export function sendStream(socket: net.Socket, pieces: readonly Buffer[]): Promise<Heard> {
  return new Promise((resolve) => {
    let text = '';
    let wasReset = false;
    const settle = (hangs: boolean): void => {
      clearTimeout(guard);
      socket.destroy();
      resolve({ text, hangs, wasReset });
    };
    const guard = setTimeout(() => settle(true), HANG_MS);
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', () => (wasReset = true));
    socket.on('end', () => settle(false));
    socket.on('close', () => settle(false));
    let at = 0;
    const next = (): void => {
      const piece = pieces[at++];
      if (piece === undefined) socket.end();
      else socket.write(piece, () => setImmediate(next));
    };
    socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', next);
  });
}

/** A client that asks one question after the other on a kept connection. */
export class MarkedClient {
  private socket: net.Socket | null = null;
  private text = '';
  private settle: ((answer: string) => void) | null = null;

  /** @param fields whole lines that go with each question */
  constructor(
    private readonly dial: () => net.Socket,
    private readonly fields: string,
  ) {}

  /** Asks for a URL by GET; resolves with the body of the answer, or with what came instead. */
  ask(url: string): Promise<string> {
    const socket = this.connected();
    return new Promise((resolve) => {
      const guard = setTimeout(() => this.settle?.('nothing in time'), HANG_MS);
      this.settle = (answer) => {
        clearTimeout(guard);
        this.settle = null;
        resolve(answer);
      };
      socket.write(`GET ${url} HTTP/1.1\r\nHost: ${new URL(url).host}\r\n${this.fields}\r\n`);
    });
  }

  close(): void {
    this.socket?.destroy();
    this.socket = null;
  }

  private connected(): net.Socket {
    if (this.socket !== null) return this.socket;
    const socket = this.dial();
    this.socket = socket;
    this.text = '';
    socket.on('data', (chunk: Buffer) => this.onData(chunk));
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      if (this.socket === socket) this.socket = null;
      this.settle?.(`closed after ${this.text}`);
    });
    return socket;
  }

  private onData(chunk: Buffer): void {
    this.text += chunk.toString('latin1');
    const step = readAnswer(this.text, 0, 'GET', false);
    if (step.kind === 'cut') return;
    const isAlone = step.kind === 'message' && step.end === this.text.length;
    const answer = isAlone ? step.message.body : `not one answer: ${this.text}`;
    this.text = '';
    this.settle?.(answer);
  }
}
