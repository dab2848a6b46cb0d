/**
 * Reads the beginning of a body before anybody decides what becomes of it, and gives it on afterwards as if nothing had
 * been read. What is read is copied, since the bytes of a source are lent.
 */
import type { Fields } from '../http1/fields.js';
import type { BodyFault, BodySink, BodySource } from '../http1/stream.js';

type End = { readonly trailers: Fields | null } | { readonly fault: BodyFault };

/** A body whose beginning is held. */
export class PeekedBody implements BodySource {
  private readonly held: Buffer[] = [];
  private heldBytes = 0;
  private wanted = 0;
  private isReading = false;
  private isSourcePaused = false;
  private end: End | null = null;
  private sink: BodySink | null = null;
  /** The sink is full. */
  private isSinkPaused = false;
  private onRead: (() => void) | null = null;

  constructor(private readonly source: BodySource) {}

  /** Whether the body has come to its end as it should. */
  get isWhole(): boolean {
    return this.end !== null && 'trailers' in this.end;
  }

  /** What broke it while it was held; null where nothing did. */
  get broken(): BodyFault | null {
    return this.end !== null && 'fault' in this.end ? this.end.fault : null;
  }

  /** Whether as much is held as was asked for, or as there is. */
  get isRead(): boolean {
    return this.end !== null || this.heldBytes >= this.wanted;
  }

  /** What is held. */
  bytes(): Buffer {
    return this.held.length === 1 ? (this.held[0] ?? Buffer.alloc(0)) : Buffer.concat(this.held);
  }

  get length(): number {
    return this.heldBytes;
  }

  /**
   * Reads until `wanted` bytes are held, or the end. Called once, before `pipe`. `onRead` is called when that takes
   * time; where {@link isRead} holds at the return of this call, it is not.
   */
  read(wanted: number, onRead: () => void): void {
    this.wanted = wanted;
    this.isReading = true;
    this.source.pipe({
      data: (chunk) => this.data(chunk),
      end: (trailers) => this.ended({ trailers }),
      fail: (fault) => this.ended({ fault }),
    });
    if (this.isRead) this.isReading = false;
    else this.onRead = onRead;
  }

  /** Goes on with what is held. */
  stopReading(): void {
    this.isReading = false;
    this.onRead = null;
  }

  pipe(sink: BodySink): void {
    this.sink = sink;
    this.stopReading();
    this.giveOn();
  }

  resume(): void {
    if (!this.isSinkPaused) return;
    this.isSinkPaused = false;
    this.giveOn();
  }

  cancel(): void {
    this.sink = null;
    this.stopReading();
    this.source.cancel();
  }

  private data(chunk: Buffer): boolean {
    if (this.sink !== null && this.held.length === 0) {
      const goesOn = this.sink.data(chunk);
      if (!goesOn) this.isSinkPaused = this.isSourcePaused = true;
      return goesOn;
    }
    this.held.push(Buffer.from(chunk));
    this.heldBytes += chunk.length;
    if (this.isReading && this.heldBytes < this.wanted) return true;
    this.isSourcePaused = true;
    this.tellRead();
    return false;
  }

  private ended(end: End): void {
    this.end = end;
    this.tellRead();
    if (this.sink !== null) this.giveOn();
  }

  private tellRead(): void {
    const { onRead } = this;
    this.onRead = null;
    this.isReading = false;
    onRead?.();
  }

  /** Hands over what is held, then lets the source flow. */
  private giveOn(): void {
    while (this.sink !== null && !this.isSinkPaused) {
      const chunk = this.held.shift();
      if (chunk === undefined) break;
      if (!this.sink.data(chunk)) this.isSinkPaused = true;
    }
    if (this.sink === null) return;
    // A sink that is full takes the end all the same, so that whoever waits for it is not told late.
    if (this.end !== null && this.held.length === 0) this.finish(this.end);
    else if (!this.isSinkPaused && this.isSourcePaused) {
      this.isSourcePaused = false;
      this.source.resume();
    }
  }

  private finish(end: End): void {
    const { sink } = this;
    this.sink = null;
    if ('trailers' in end) sink?.end(end.trailers);
    else sink?.fail(end.fault);
  }
}
