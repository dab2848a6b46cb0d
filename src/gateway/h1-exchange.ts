/** One request of an HTTP/1.1 client: its body as a source, its answer framed as this client understands it. */
import type { ByteMeter } from '../access/rate-limit.js';
import { BodyReader, encodeChunkHead, LAST_CHUNK, serializeTrailers, type Framing } from '../http1/body.js';
import { wantsKeepAlive } from '../http1/connection.js';
import type { Fields } from '../http1/fields.js';
import { serializeResponseHead, type RequestHead, type ResponseHead } from '../http1/head.js';
import type { BodyFault, BodySink, BodySource } from '../http1/stream.js';
import type { ClientConnection } from './client-connection.js';
import type { ClientExchange, Origin, TakenOver } from './exchange.js';

/** Up to this size head and body are copied into one piece, which is cheaper than two writes. */
const JOIN_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

/** The HTTP/1.1 implementation of {@link ClientExchange}. */
export class H1Exchange implements ClientExchange, BodySource {
  readonly origin: Origin;
  readonly startedMs: number;
  readonly body: BodySource | null;
  bytesIn = 0;
  bytesOut = 0;
  isCommitted = false;
  isFinGone = false;
  onGone: (() => void) | null = null;
  meter: ByteMeter | null = null;
  bodyFault: BodyFault | null = null;
  private readonly reader: BodyReader | null;
  private sink: BodySink | null = null;
  private held: Buffer[] = [];
  private isBodyPaused = false;
  private isBodyRead: boolean;
  private answerFraming: Framing = { kind: 'none' };
  private waitingHead = '';
  private mustClose: boolean;
  private isOver = false;

  constructor(
    private readonly connection: ClientConnection,
    readonly head: RequestHead,
    readonly framing: Framing,
  ) {
    this.origin = connection.origin;
    this.startedMs = connection.host.nowMs();
    this.mustClose = !wantsKeepAlive(head);
    this.isBodyRead = framing.kind === 'none' || (framing.kind === 'length' && framing.length === 0);
    this.body = this.isBodyRead ? null : this;
    this.reader = this.isBodyRead
      ? null
      : new BodyReader(framing, { tolerant: false, trailerLimits: connection.host.limits() });
    if (!this.isBodyRead) connection.watchBody(true);
  }

  // --- the request's body ---

  /** Takes bytes of the connection; gives back those behind the request. */
  takeBody(chunk: Buffer): Buffer {
    if (this.reader === null || this.isBodyRead) return chunk;
    const step = this.reader.push(chunk, this.take);
    if (step.kind === 'end') {
      this.isBodyRead = true;
      this.connection.watchBody(false);
      if (this.held.length === 0) this.sink?.end(null);
      return step.rest;
    }
    if (step.kind === 'fault') this.failBody(step.fault);
    else if (this.isBodyPaused || this.sink === null) this.holdOn();
    else this.connection.bodyCame(chunk.length);
    return NOTHING;
  }

  private readonly take = (slice: Buffer): void => {
    this.bytesIn += slice.length;
    this.meter?.(slice.length);
    if (this.sink === null || this.held.length > 0) this.held.push(slice);
    else if (!this.sink.data(slice)) this.isBodyPaused = true;
  };

  private holdOn(): void {
    this.connection.wire.pause();
    this.connection.watchBody(false);
  }

  pipe(sink: BodySink): void {
    this.sink = sink;
    this.isBodyPaused = false;
    this.deliverHeld();
  }

  resume(): void {
    this.isBodyPaused = false;
    this.deliverHeld();
  }

  private deliverHeld(): void {
    const { sink } = this;
    while (sink !== null && this.held.length > 0 && !this.isBodyPaused) {
      if (!sink.data(this.held.shift() ?? NOTHING)) this.isBodyPaused = true;
    }
    if (sink === null || this.isBodyPaused) return;
    if (this.bodyFault !== null) sink.fail(this.bodyFault);
    else if (this.isBodyRead) sink.end(null);
    else {
      this.connection.watchBody(true);
      this.connection.wire.resume();
    }
  }

  /** Nobody wants the rest: what still comes is dropped when the connection closes. */
  cancel(): void {
    this.sink = null;
  }

  private failBody(fault: BodyFault): void {
    this.bodyFault = fault;
    this.mustClose = true;
    this.connection.watchBody(false);
    const { sink } = this;
    this.sink = null;
    sink?.fail(fault);
  }

  /** Called when nothing of the body came for too long. */
  onBodySilent(): void {
    this.failBody({ kind: 'timeout', detail: 'The body of the request stopped coming, or came too slowly.' });
  }

  /** The client sent FIN, behind a whole request a half-close; true where it means that the client left. */
  onClientFin(): boolean {
    return !this.isBodyRead || this.isFinGone;
  }

  /** The client's connection is gone. */
  onClientGone(): void {
    if (this.isOver) return;
    this.isOver = true;
    if (!this.isBodyRead) this.failBody({ kind: 'gone', detail: 'The client is gone.' });
    this.onGone?.();
  }

  // --- the answer ---

  interim(head: ResponseHead): void {
    if (this.head.minor === 0 || this.isCommitted || this.isOver) return;
    this.connection.wire.write(serializeResponseHead(head));
  }

  respond(head: { status: number; reason: string; fields: Fields }, framing: Framing): void {
    this.isCommitted = true;
    const { fields } = head;
    if (!this.isBodyRead || this.connection.host.isDraining()) this.mustClose = true;
    this.answerFraming = this.frame(fields, framing);
    if (this.mustClose) fields.append('Connection', 'close');
    else if (this.head.minor === 0) fields.append('Connection', 'keep-alive');
    this.waitingHead = serializeResponseHead({ status: head.status, reason: head.reason, fields });
  }

  /** What the target ended by closing is chunked for a 1.1 client; a 1.0 client gets it until close. */
  private frame(fields: Fields, framing: Framing): Framing {
    if (framing.kind === 'none') return framing;
    if (framing.kind === 'length') {
      fields.set('Content-Length', String(framing.length));
      return framing;
    }
    fields.remove('content-length');
    if (this.head.minor === 0) {
      this.mustClose = true;
      return { kind: 'close' };
    }
    fields.append('Transfer-Encoding', 'chunked');
    return { kind: 'chunked' };
  }

  write(chunk: Buffer): boolean {
    if (this.isOver || chunk.length === 0) return true;
    this.bytesOut += chunk.length;
    this.meter?.(chunk.length);
    const isChunked = this.answerFraming.kind === 'chunked';
    const before = isChunked ? this.waitingHead + encodeChunkHead(chunk.length) : this.waitingHead;
    const after = isChunked ? '\r\n' : '';
    this.waitingHead = '';
    const { wire } = this.connection;
    if (before === '' && after === '') return wire.write(chunk);
    if (chunk.length <= JOIN_BYTES) return wire.write(joined(before, chunk, after));
    return wire.writeTogether(after === '' ? [before, chunk] : [before, chunk, after]);
  }

  whenFlushed(callback: () => void): void {
    this.connection.wire.whenFlushed(callback);
  }

  flush(): void {
    if (this.waitingHead === '' || this.isOver) return;
    this.connection.wire.write(this.waitingHead);
    this.waitingHead = '';
  }

  end(trailers: Fields | null): void {
    if (this.isOver) return;
    if (this.answerFraming.kind === 'chunked') {
      this.waitingHead += trailers === null ? LAST_CHUNK : serializeTrailers(trailers);
    }
    this.flush();
    this.isOver = true;
    this.connection.finished(this.mustClose || !this.isBodyRead);
  }

  withdraw(): boolean {
    if (this.waitingHead === '' || this.isOver) return false;
    this.waitingHead = '';
    this.isCommitted = false;
    return true;
  }

  abort(): void {
    if (this.isOver) return;
    this.flush();
    this.isOver = true;
    const { wire } = this.connection;
    if (this.answerFraming.kind === 'close' || !this.isCommitted) wire.reset();
    else wire.endAndClose();
  }

  closeAfter(): void {
    this.mustClose = true;
  }

  takeOver(head: { status: number; reason: string; fields: Fields }): TakenOver {
    this.isCommitted = true;
    this.isOver = true;
    this.connection.wire.write(serializeResponseHead(head));
    return { wire: this.connection.wire, early: this.connection.takeOver() };
  }
}

function joined(before: string, chunk: Buffer, after: string): Buffer {
  const whole = Buffer.allocUnsafe(before.length + chunk.length + after.length);
  whole.write(before, 0, 'latin1');
  chunk.copy(whole, before.length);
  whole.write(after, before.length + chunk.length, 'latin1');
  return whole;
}
