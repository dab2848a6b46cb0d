/**
 * The body of a request, kept so that another attempt can send it from byte 0. Kept up to a bound for the request and
 * one for the process; past either the body goes on once and can't be repeated.
 */
import type { Fields } from '../http1/fields.js';
import type { BodyFault, BodySink, BodySource } from '../http1/stream.js';

/** What all kept bodies of the process may hold together, in bytes. */
export class ReplayBudget {
  private used = 0;

  constructor(private readonly limit: () => number) {}

  /** Takes `bytes`, or says no. */
  take(bytes: number): boolean {
    if (this.used + bytes > this.limit()) return false;
    this.used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.used -= bytes;
  }

  get bytes(): number {
    return this.used;
  }
}

/** A tee between the client's body and the attempts that send it. */
export class ReplayBody implements BodySink {
  /** Whether another attempt can begin from byte 0. */
  isReplayable = true;
  private chunks: Buffer[] = [];
  private kept = 0;
  private isPiped = false;
  private fate: { end: Fields | null } | { fault: BodyFault } | null = null;
  private view: ReplayView | null = null;

  constructor(
    private readonly source: BodySource,
    private readonly limit: number,
    private readonly budget: ReplayBudget,
  ) {}

  /** The body from byte 0, for the next attempt; the one before hears nothing more. */
  open(): BodySource {
    this.view?.cancel();
    this.view = new ReplayView(this);
    return this.view;
  }

  /** Lets go of what is kept; called when the exchange is over. */
  close(): void {
    this.view?.cancel();
    this.forget();
  }

  data(chunk: Buffer): boolean {
    if (this.isReplayable) this.keep(chunk);
    return this.view?.live(chunk) ?? false;
  }

  end(trailers: Fields | null): void {
    this.fate = { end: trailers };
    this.view?.advance();
  }

  fail(fault: BodyFault): void {
    this.fate = { fault };
    this.view?.advance();
  }

  /** @internal */
  chunkAt(index: number): Buffer | undefined {
    return this.chunks[index];
  }

  /** @internal How many chunks are kept. */
  get keptChunks(): number {
    return this.chunks.length;
  }

  /** @internal Goes on with the client's own bytes, or tells the view how they ended. */
  pull(sink: BodySink): void {
    if (this.fate !== null) {
      if ('end' in this.fate) sink.end(this.fate.end);
      else sink.fail(this.fate.fault);
    } else if (this.isPiped) this.source.resume();
    else {
      this.isPiped = true;
      this.source.pipe(this);
    }
  }

  private keep(chunk: Buffer): void {
    if (this.kept + chunk.length <= this.limit && this.budget.take(chunk.length)) {
      this.kept += chunk.length;
      this.chunks.push(chunk);
    } else {
      this.isReplayable = false;
      this.forget();
    }
  }

  private forget(): void {
    this.budget.give(this.kept);
    this.kept = 0;
    this.chunks = [];
  }
}

/** One attempt's reading of the body. */
class ReplayView implements BodySource {
  private next = 0;
  private sink: BodySink | null = null;
  private isPaused = false;

  constructor(private readonly body: ReplayBody) {}

  pipe(sink: BodySink): void {
    this.sink = sink;
    this.advance();
  }

  resume(): void {
    this.isPaused = false;
    this.advance();
  }

  cancel(): void {
    this.sink = null;
  }

  /** A chunk of the client's as it comes; the kept ones before it were all sent. */
  live(chunk: Buffer): boolean {
    this.next = this.body.keptChunks;
    if (this.sink === null) return false;
    this.isPaused = !this.sink.data(chunk);
    return !this.isPaused;
  }

  /** Sends what is kept and not yet sent, then goes on with the client's own. */
  advance(): void {
    while (this.sink !== null && !this.isPaused) {
      const chunk = this.body.chunkAt(this.next);
      if (chunk === undefined) break;
      this.next++;
      if (!this.sink.data(chunk)) this.isPaused = true;
    }
    if (this.sink !== null && !this.isPaused) this.body.pull(this.sink);
  }
}
