/** Writes one request with its body on a wire, framed as it should be, no faster than the wire takes it. */
import { encodeChunkHead, LAST_CHUNK, type Framing } from '../http1/body.js';
import type { BodyFault, BodySink, BodySource } from '../http1/stream.js';
import type { Wire } from './wire.js';

/** Who is told how the request ended. */
export interface WriterEvents {
  /** The whole request is written. */
  onRequestSent(): void;
  /** The body was cut at its source. */
  onRequestCut(fault: BodyFault): void;
}

/** One request on its way out. */
export class RequestWriter implements BodySink {
  isDone = false;
  /** Whether a byte was given to the wire. */
  hasWritten = false;
  private body: BodySource | null = null;
  private isStopped = false;

  constructor(
    private readonly wire: Wire,
    private readonly framing: Framing,
    private readonly events: WriterEvents,
  ) {}

  /** Writes the head and begins with the body. */
  start(head: string, body: BodySource | null): void {
    this.hasWritten = true;
    this.wire.write(head);
    if (body === null) {
      this.end();
      return;
    }
    this.body = body;
    body.pipe(this);
  }

  /** Takes no more of the body; its source keeps what it has for another attempt. */
  stop(): void {
    if (this.isDone || this.isStopped) return;
    this.isStopped = true;
    this.body?.cancel();
  }

  data(chunk: Buffer): boolean {
    if (this.isStopped || this.wire.isClosed) return true;
    const isFlushed =
      this.framing.kind === 'chunked'
        ? this.wire.writeTogether([encodeChunkHead(chunk.length), chunk, '\r\n'])
        : this.wire.write(chunk);
    if (!isFlushed) this.wire.whenFlushed(() => this.body?.resume());
    return isFlushed;
  }

  end(): void {
    if (this.isStopped) return;
    if (this.framing.kind === 'chunked') this.wire.write(LAST_CHUNK);
    this.isDone = true;
    this.events.onRequestSent();
  }

  fail(fault: BodyFault): void {
    if (this.isStopped) return;
    this.isStopped = true;
    this.events.onRequestCut(fault);
  }
}
