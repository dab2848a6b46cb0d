/**
 * A client that speaks bytes: writes exactly what a test says, keeps exactly what comes back, and notices how the
 * connection ended. Every wait has a hang guard; nothing here knows HTTP beyond where a head ends.
 */
import net from 'node:net';
import { waitFor } from './wait.js';

/** How a connection stands: `fin` is the peer's end in order, `reset` its RST, `closed` our own destroy. */
export type Ending = 'open' | 'fin' | 'reset' | 'closed';

/** One HTTP message as bytes. `body` is whatever came behind the head so far. */
export interface RawMessage {
  readonly head: string;
  readonly status: number;
  readonly body: Buffer;
}

/** A raw TCP connection. */
export class RawClient {
  /** How the peer ended it, if it did. */
  ending: Ending = 'open';
  private pieces: Buffer[] = [];
  private isGone = false;

  constructor(readonly socket: net.Socket) {
    socket.on('data', (chunk: Buffer) => this.pieces.push(chunk));
    socket.on('end', () => {
      if (this.ending === 'open') this.ending = 'fin';
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.ending = error.code === 'ECONNRESET' || error.code === 'EPIPE' ? 'reset' : this.ending;
    });
    socket.on('close', () => {
      this.isGone = true;
      if (this.ending === 'open') this.ending = 'closed';
    });
  }

  /** Connects; the promise resolves when the connection stands. */
  static connect(port: number, host = '127.0.0.1'): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host, allowHalfOpen: true, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new RawClient(socket));
      });
    });
  }

  /** Writes as one segment. */
  write(data: string | Buffer): this {
    this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
    return this;
  }

  /** Writes one byte per write, each in a turn of its own. */
  async writeSlowly(data: string): Promise<void> {
    for (const octet of Buffer.from(data, 'latin1')) {
      this.socket.write(Buffer.of(octet));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Everything that came so far. */
  get received(): Buffer {
    if (this.pieces.length > 1) this.pieces = [Buffer.concat(this.pieces)];
    return this.pieces[0] ?? Buffer.alloc(0);
  }

  /** The same as latin1 text. */
  get text(): string {
    return this.received.toString('latin1');
  }

  /** Takes what came so far away, so that the next wait sees only what follows. */
  take(): string {
    const { text } = this;
    this.pieces = [];
    return text;
  }

  /** Puts bytes that were taken too far in front again. */
  giveBack(bytes: Buffer): void {
    this.pieces = [bytes, ...this.pieces];
  }

  /** Waits until the text came; returns all of it so far. */
  async until(wanted: string, guardMs?: number): Promise<string> {
    await this.look(`"${wanted}"`, () => this.text.includes(wanted), guardMs);
    return this.text;
  }

  /** Waits until so many bytes came in all. */
  async untilBytes(count: number, guardMs?: number): Promise<Buffer> {
    const size = (): number => this.pieces.reduce((sum, piece) => sum + piece.length, 0);
    await this.look(`${count} bytes`, () => size() >= count, guardMs);
    return this.received;
  }

  /** Waits for the first byte, or the end. */
  async untilSome(guardMs?: number): Promise<void> {
    await this.look('a byte', () => this.pieces.length > 0 || this.ending !== 'open', guardMs);
  }

  /** Waits for a whole head, from the `nth` (0 is the first); bodies in between must not hold a blank line. */
  async head(nth = 0, guardMs?: number): Promise<string> {
    await this.look('a head', () => this.text.split('\r\n\r\n').length > nth + 1, guardMs);
    return `${this.text.split('\r\n\r\n')[nth] ?? ''}\r\n\r\n`;
  }

  /** Waits for an answer with Content-Length (or none) and takes exactly it away. */
  async answer(guardMs?: number): Promise<RawMessage> {
    const head = await this.head(0, guardMs);
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    const whole = await this.untilBytes(head.length + length, guardMs);
    this.pieces = [whole.subarray(head.length + length)];
    return { ...messageOf(head), body: whole.subarray(head.length, head.length + length) };
  }

  /** Waits until the peer ended (FIN or RST) or the socket is gone; says how. */
  async ended(guardMs?: number): Promise<Ending> {
    await this.look('the end', () => this.ending !== 'open', guardMs);
    return this.ending;
  }

  /** Waits until the socket is closed both ways. */
  async closed(guardMs?: number): Promise<Ending> {
    await this.look('the close', () => this.isGone, guardMs);
    return this.ending;
  }

  /** Sends FIN and goes on reading. */
  end(): this {
    this.socket.end();
    return this;
  }

  /** Ends with RST at once. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Closes; what the peer still sends is answered with RST. */
  destroy(): void {
    this.socket.destroy();
  }

  /** Takes nothing more from the kernel until `resume`. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  private look(what: string, test: () => boolean, guardMs?: number): Promise<boolean> {
    return waitFor(
      `${what}; had (${this.ending}): ${JSON.stringify(this.text.slice(0, 400))}`,
      test,
      guardMs,
    );
  }
}

/** Status and head of an answer. */
export function messageOf(head: string): { head: string; status: number } {
  return { head, status: Number(/^HTTP\/1\.\d (\d+)/.exec(head)?.[1] ?? NaN) };
}

/** The values of all lines of this field, in order. */
export function fieldsOf(head: string, name: string): string[] {
  const prefix = `${name.toLowerCase()}:`;
  return head
    .split('\r\n')
    .filter((line) => line.toLowerCase().startsWith(prefix))
    .map((line) => line.slice(prefix.length).trim());
}
