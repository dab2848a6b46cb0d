/**
 * A CONNECT tunnel through the gateway as a client sees it: open, exchange a line, download, close – every byte checked.
 */
import { connect, type Socket } from 'node:net';
import type { Gateway } from '../support/job.js';
import { BULK_COMMAND, TARGET, basic, matchesPattern } from '../support/wire.js';

/** What the tunnel waits for: consumes bytes, true when it is complete; throws when a byte is wrong. */
type Consumer = (bytes: Buffer) => boolean;

const READ_BUFFER = Buffer.allocUnsafe(262_144);
const SOURCE_ADDRESSES = 8;

export class Tunnel {
  readonly #socket: Socket;
  readonly #closed: Promise<void>;
  #consumer: Consumer | undefined;
  #settle: ((fault?: Error) => void) | undefined;
  #fault: Error | undefined;

  private constructor(gateway: Gateway, slot: number) {
    this.#socket = connect({
      port: gateway.port,
      host: '127.0.0.1',
      // Several source addresses, so that many tunnels find enough ports.
      localAddress: `127.0.0.${2 + (slot % SOURCE_ADDRESSES)}`,
      noDelay: true,
      onread: {
        buffer: READ_BUFFER,
        callback: (length) => {
          this.#onBytes(READ_BUFFER.subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#closed = new Promise((resolve) => {
      this.#socket.on('close', () => {
        this.#fail(new Error('the tunnel was closed'));
        resolve();
      });
    });
  }

  /** Opens a tunnel to the target. `slot` names the session and chooses the source address. */
  static async open(gateway: Gateway, slot: number): Promise<Tunnel> {
    const tunnel = new Tunnel(gateway, slot);
    let head = '';
    const established = tunnel.#expect((bytes) => {
      head += bytes.toString('latin1');
      if (!head.includes('\r\n\r\n')) return false;
      if (!/^HTTP\/1\.[01] 2\d\d .*\r\n\r\n$/s.test(head))
        throw new Error(`CONNECT answered ${head.split('\r\n')[0]}`);
      return true;
    });
    const login = basic(gateway.login);
    tunnel.#socket.write(
      `CONNECT ${TARGET} HTTP/1.1\r\nHost: ${TARGET}\r\nProxy-Authorization: ${login}\r\nX-Session-Id: s-${slot}\r\n\r\n`,
      'latin1',
    );
    await established;
    return tunnel;
  }

  /** Sends a line and waits for the same line back. */
  exchange(line: string): Promise<void> {
    let echo = '';
    const done = this.#expect((bytes) => {
      echo += bytes.toString('latin1');
      if (!line.startsWith(echo)) throw new Error('the echo differs from what was sent');
      return echo.length === line.length;
    });
    this.#socket.write(line, 'latin1');
    return done;
  }

  /** Downloads `size` bytes; `onProgress` hears of every piece. */
  download(size: number, onProgress: (bytes: number) => void = () => undefined): Promise<void> {
    let seen = 0;
    const done = this.#expect((bytes) => {
      if (!matchesPattern(bytes, seen)) throw new Error(`wrong bytes after ${seen} of a download`);
      seen += bytes.length;
      onProgress(bytes.length);
      if (seen > size) throw new Error('more bytes than were asked for');
      return seen === size;
    });
    this.#socket.write(`${BULK_COMMAND}${size}\n`, 'latin1');
    return done;
  }

  /** Half-closes and waits until the gateway has closed too. */
  close(): Promise<void> {
    this.#socket.end();
    return this.#closed;
  }

  #expect(consumer: Consumer): Promise<void> {
    if (this.#fault !== undefined) return Promise.reject(this.#fault);
    return new Promise((resolve, reject) => {
      this.#consumer = consumer;
      this.#settle = (fault) => {
        this.#consumer = this.#settle = undefined;
        if (fault === undefined) resolve();
        else reject(fault);
      };
    });
  }

  #onBytes(bytes: Buffer): void {
    try {
      if (this.#consumer === undefined) throw new Error('bytes nobody asked for');
      if (this.#consumer(bytes)) this.#settle?.();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
      this.#socket.destroy();
    }
  }

  #fail(error: Error): void {
    this.#fault ??= error;
    this.#settle?.(error);
  }
}
