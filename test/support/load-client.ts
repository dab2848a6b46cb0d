/**
 * A client for load: one connection, one request at a time, nothing kept of an answer but its status, its length, its
 * hash where asked for, and when to come back. It reads as slowly as a test wants, from the kernel and not from a buffer.
 */
import { createHash, type Hash } from 'node:crypto';
import net from 'node:net';

/** What came back. */
export interface LoadAnswer {
  readonly status: number;
  /** Value of Retry-After, or null. */
  readonly retryAfter: string | null;
  /** The `code` of an error answer, or null. */
  readonly code: string | null;
  readonly bodyBytes: number;
  /** Hash of the body, where hashing was asked for. */
  readonly hash: string;
}

const READ_BYTES = 64 * 1024;
/** Most that is kept of a body, to find the code of an error in it. */
const ERROR_BYTES = 600;

/** One connection. */
export class LoadClient {
  readonly socket: net.Socket;
  /** Whether the connection is over, whoever ended it. */
  isGone = false;
  private readonly big = Buffer.allocUnsafe(READ_BYTES);
  private slice = READ_BYTES;
  private isStopped = false;
  private text = '';
  private wanted = -1;
  private got = 0;
  private hash: Hash | null = null;
  private done: ((answer: LoadAnswer | null) => void) | null = null;

  /** @param at a port of this machine, and the address to come from */
  constructor(at: { readonly port: number; readonly from?: string }) {
    this.socket = net.connect({
      ...{ port: at.port, host: '127.0.0.1', noDelay: true },
      ...(at.from === undefined ? {} : { localAddress: at.from }),
      onread: {
        buffer: () => this.big.subarray(0, this.slice),
        callback: (count) => {
          this.bytes(this.big.subarray(0, count));
          return !this.isStopped;
        },
      },
    });
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.isGone = true;
      this.settle();
    });
  }

  /** Resolves when it is connected, or is not going to be. */
  connected(): Promise<void> {
    return new Promise((resolve) => {
      this.socket.once('connect', resolve);
      this.socket.once('close', () => resolve());
    });
  }

  /** Whether a head came that says yes. */
  get isOpen(): boolean {
    return this.wanted >= 0 && this.status === 200;
  }

  /** Sends a whole request. Resolves with the answer, or null where the connection ended before it was whole. */
  ask(head: string, isHashed = false): Promise<LoadAnswer | null> {
    return new Promise((resolve) => this.begin(head, resolve, isHashed));
  }

  /** The same by callback, which is cheaper. */
  begin(head: string, done: (answer: LoadAnswer | null) => void, isHashed = false): void {
    if (this.isGone) {
      done(null);
      return;
    }
    this.text = '';
    this.wanted = -1;
    this.got = 0;
    this.hash = isHashed ? createHash('sha256') : null;
    this.done = done;
    this.socket.write(head, 'latin1');
  }

  /** From now on takes at most so many bytes, and only when `take` is called. */
  readSlowly(bytes: number): void {
    this.slice = bytes;
    this.isStopped = true;
    this.socket.pause();
  }

  /** Takes one slice from the kernel. */
  take(): void {
    if (!this.isGone) this.socket.resume();
  }

  /** Reads as fast as it comes, again. */
  readFast(): void {
    this.slice = READ_BYTES;
    this.isStopped = false;
    this.take();
  }

  /** Ends with a reset: the client gave up. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }

  private bytes(chunk: Buffer): void {
    if (this.wanted >= 0) this.body(chunk);
    else {
      this.text += chunk.toString('latin1');
      const end = this.text.indexOf('\r\n\r\n');
      if (end < 0) return;
      const rest = chunk.subarray(chunk.length - (this.text.length - end - 4));
      this.text = this.text.slice(0, end + 2);
      const isTunnel = !/\r\ncontent-length:/i.test(this.text);
      this.wanted = isTunnel ? Infinity : Number(/\r\ncontent-length: *(\d+)/i.exec(this.text)?.[1]);
      this.body(rest);
    }
  }

  private body(chunk: Buffer): void {
    this.got += chunk.length;
    this.hash?.update(chunk);
    if (this.status >= 400 && this.text.length < 2 * ERROR_BYTES) this.text += chunk.toString('latin1');
    if (this.got >= this.wanted) this.settle();
  }

  private get status(): number {
    return Number(this.text.slice(9, 12));
  }

  /** An answer with a length that came short is none; what is ended by closing is whole then. */
  private settle(): void {
    const { done } = this;
    this.done = null;
    if (done === null) return;
    const isWhole = this.wanted >= 0 && (this.wanted === Infinity || this.got >= this.wanted);
    done(isWhole ? this.answer() : null);
  }

  private answer(): LoadAnswer {
    return {
      status: this.status,
      retryAfter: /\r\nretry-after: *(\S+)/i.exec(this.text)?.[1] ?? null,
      code: /"code":"(\w+)"/.exec(this.text)?.[1] ?? null,
      bodyBytes: this.got,
      hash: this.hash?.digest('hex') ?? '',
    };
  }
}
