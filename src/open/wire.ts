/**
 * A socket reduced to what the data plane needs: bytes in to one reader, bytes out, pause and end.
 * Knows nothing of HTTP. Bytes handed to the reader are **lent**: they stay valid only until the call returns, unless
 * the reader pauses the wire before it returns (then they stay valid until it resumes) or keeps their buffer.
 */
import net from 'node:net';
import tls from 'node:tls';

/** Size of the read buffer of a dialled socket; 256 KiB would be cheaper per GB but stays resident per used tunnel. */
export const READ_BUFFER_BYTES = 64 * 1024;

/** Buffers of closed wires, for the next ones: a crawl over many exits dials all the time. */
const spareBuffers: Buffer[] = [];
const MAX_SPARE_BUFFERS = 128;

function takeReadBuffer(): Buffer {
  return spareBuffers.pop() ?? Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
}

/** Takes what comes in on a wire. */
export interface WireReader {
  /** Bytes, lent (see above). */
  bytes(chunk: Buffer): void;
  /** The peer has sent its last byte (FIN); our side may still write. */
  ended(): void;
  /** The wire is gone; called once, last. Null when both sides ended in order. */
  closed(error: NodeJS.ErrnoException | null): void;
}

/** A reader for wires that nobody listens to: drops bytes and ends. */
export const NOBODY: WireReader = { bytes: () => undefined, ended: () => undefined, closed: () => undefined };

const EMPTY = Buffer.alloc(0);

/** One socket. */
export class Wire {
  /** Who takes the bytes; may be replaced while the wire lives. */
  reader: WireReader = NOBODY;
  /** Whether the peer has sent its FIN. */
  hasEnded = false;
  isClosed = false;
  /** How long a peer may take nothing of what waits for it before it counts as dead. */
  stallMs = 60_000;
  private error: NodeJS.ErrnoException | null = null;
  private paused = false;
  private isReading = false;
  private isStallWatched = false;
  /** What a dialled socket reads into. */
  private buffer: Buffer | null = null;
  private waiting: (() => void)[] | null = null;
  private readonly onWritten: () => void;

  private constructor(
    readonly socket: net.Socket,
    /** The TCP socket below, where `socket` is TLS on top of one that we were handed. */
    private readonly transport: net.Socket = socket,
  ) {
    this.onWritten = () => {
      if (this.waiting === null || socket.writableLength > 0) return;
      socket.setTimeout(0);
      this.wakeWaiting();
    };
    socket.on('end', () => {
      if (this.wasReset()) return;
      this.hasEnded = true;
      this.reader.ended();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.error ??= error;
    });
    socket.on('close', () => {
      this.isClosed = true;
      this.reader.closed(this.error);
      this.wakeWaiting();
    });
  }

  /**
   * Whether what looks like an end is a reset: libuv tells both as an end when they come together with bytes. Writing
   * nothing changes nothing and shows it; the socket then closes with the error. TLS says by itself how it ended.
   */
  private wasReset(): boolean {
    const { socket } = this;
    if (!socket.writable || socket.writableLength > 0 || 'encrypted' in socket) return false;
    socket.write(EMPTY);
    return socket.errored !== null;
  }

  /**
   * Wraps a socket that reads through 'data' events (accepted sockets, TLS). The socket must allow half-open.
   * @param transport the TCP socket that a TLS socket was put on, so that it can be reset
   */
  static around(socket: net.Socket, transport: net.Socket = socket): Wire {
    const wire = new Wire(socket, transport);
    socket.on('data', (chunk: Buffer) => wire.reader.bytes(chunk));
    return wire;
  }

  /**
   * Starts to dial with a read buffer of the wire's own, which halves the CPU per GB against 'data' events.
   * @param at is given away.
   * @throws never for a bad address at run time: faults come as 'error' on the socket.
   */
  static dialling(at: net.TcpNetConnectOpts): Wire {
    const buffer = takeReadBuffer();
    let wire: Wire | null = null;
    // Set and not spread: a spread here cost 5 µs a connection.
    const options = at;
    options.allowHalfOpen = true;
    options.noDelay = true;
    options.onread = {
      buffer: () => wire?.bufferToRead() ?? buffer,
      callback: (count: number): boolean => wire?.onRead(count) ?? true,
    };
    const socket = net.connect(options);
    wire = new Wire(socket);
    wire.buffer = buffer;
    // A wire that closes while it is paused may have lent bytes that are not sent yet: its buffer is not used again.
    socket.once('close', () => {
      if (wire?.paused === false && wire.buffer !== null) Wire.giveBack(wire.buffer);
    });
    return wire;
  }

  /**
   * For a reader, during `bytes`: the bytes stay valid until it gives the buffer back; the wire reads on into another.
   * Null for wires whose bytes have memory of their own.
   */
  keep(): Buffer | null {
    const { buffer } = this;
    this.buffer = null;
    return buffer;
  }

  /** Ends what `keep` began, once no byte of the buffer is needed any more. */
  static giveBack(buffer: Buffer): void {
    if (spareBuffers.length < MAX_SPARE_BUFFERS) spareBuffers.push(buffer);
  }

  private bufferToRead(): Buffer {
    this.buffer ??= takeReadBuffer();
    return this.buffer;
  }

  /** Hands bytes on; false stops the reading, which costs less than pausing the stream. */
  private onRead(count: number): boolean {
    this.isReading = true;
    if (this.buffer !== null) this.reader.bytes(this.buffer.subarray(0, count));
    this.isReading = false;
    return !this.paused;
  }

  /**
   * Sends bytes or latin1 text. False means that some are still unsent: their memory must stay as it is, and a polite
   * writer waits for `whenFlushed`.
   */
  write(data: Buffer | string): boolean {
    if (this.isClosed || !this.socket.writable) return true;
    if (typeof data === 'string') this.socket.write(data, 'latin1', this.onWritten);
    else this.socket.write(data, this.onWritten);
    return this.socket.writableLength === 0;
  }

  /** Sends several pieces as one. */
  writeTogether(pieces: readonly (Buffer | string)[]): boolean {
    this.socket.cork();
    for (const piece of pieces) this.write(piece);
    this.socket.uncork();
    return this.socket.writableLength === 0;
  }

  /** Whether bytes are still unsent. */
  get hasUnsent(): boolean {
    return !this.isClosed && this.socket.writableLength > 0;
  }

  /**
   * Calls back once when every byte is with the kernel, or lost with the wire: its memory is free then. From now on the
   * peer must take something every `stallMs`. A callback that waits already is not added again.
   * `drain` would not do: it need not come when the length never reached the high-water mark.
   */
  whenFlushed(callback: () => void): void {
    const { waiting } = this;
    if (waiting === null) this.waiting = [callback];
    else if (!waiting.includes(callback)) waiting.push(callback);
    if (!this.isStallWatched) this.watchStall();
    this.socket.setTimeout(this.stallMs);
  }

  private watchStall(): void {
    this.isStallWatched = true;
    const { socket, stallMs } = this;
    socket.on('timeout', () => socket.destroy(new Error(`the peer took nothing for ${stallMs} ms`)));
  }

  private wakeWaiting(): void {
    const { waiting } = this;
    this.waiting = null;
    if (waiting !== null) for (const callback of waiting) callback();
  }

  pause(): void {
    if (this.paused) return;
    this.paused = true;
    if (!this.isReading) this.socket.pause();
  }

  resume(): void {
    if (!this.paused || this.isClosed) return;
    this.paused = false;
    this.socket.resume();
  }

  /** Sends FIN after what is still unsent. */
  end(): void {
    if (!this.socket.writableEnded) this.socket.end();
  }

  /** Sends what is still unsent, then FIN, then closes without waiting for the peer's end. */
  endAndClose(): void {
    this.socket.destroySoon();
  }

  /** Ends the wire at once; unsent bytes are lost. */
  destroy(): void {
    this.socket.destroy();
  }

  /** Ends the wire at once with a reset, so that the peer can't take what it has for the whole. */
  reset(): void {
    if (this.socket.destroyed) return;
    // Node has no reset for a TLS socket that dialled by itself; without a close_notify its peer knows a cut as well.
    if (this.transport instanceof tls.TLSSocket) this.socket.destroy();
    else this.transport.resetAndDestroy();
  }
}
