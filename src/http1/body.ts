/**
 * Where a body ends, and what of the bytes is body (RFC 9112, sections 6 to 8); the chunked coding for what we
 * write. A body cut short is a fault, never an end. Knows nothing of sockets and never holds body bytes back.
 */
import type { BodyStep } from './chunked.js';
import { ChunkedDecoder } from './chunked.js';
import type { Fields } from './fields.js';
import type { Framing } from './framing.js';
import type { HeadLimits } from './message.js';
import type { BodyFault } from './stream.js';

export type { BodyStep } from './chunked.js';
export type { Framing, FramingResult } from './framing.js';
export { requestFraming, responseFraming } from './framing.js';
export type { BodyFault } from './stream.js';

export interface BodyReaderOptions {
  /** True for what targets send: `bodyTolerances` of `tolerances.ts` apply. */
  readonly tolerant: boolean;
  readonly trailerLimits: HeadLimits;
}

const NOTHING = Buffer.alloc(0);
const MORE_STEP = { kind: 'more' } as const;

/**
 * Decodes one body.
 *
 * `onData` gets views of the pushed chunk, in order, synchronously and never empty. All slices of one chunk are
 * delivered in one `push`, so back-pressure takes effect between pushes: a caller that is told to stop inside
 * `onData` stops reading its socket and takes the remaining slices of this chunk all the same.
 *
 * A body of no bytes (`none`, or `length` 0) ends at the first push, even of an empty buffer.
 */
export class BodyReader {
  private left: number;
  private readonly chunked: ChunkedDecoder | null;
  private over: BodyStep | null = null;

  constructor(
    private readonly framing: Framing,
    options: BodyReaderOptions,
  ) {
    this.left = framing.kind === 'length' ? framing.length : 0;
    this.chunked =
      framing.kind === 'chunked' ? new ChunkedDecoder(options.tolerant, options.trailerLimits) : null;
  }

  /** Takes the next bytes. Bytes after the end come back as `rest`; after a fault it repeats the fault. */
  push(chunk: Buffer, onData: (slice: Buffer) => void): BodyStep {
    if (this.over !== null) return this.over.kind === 'end' ? { ...this.over, rest: chunk } : this.over;
    const step = this.take(chunk, onData);
    if (step.kind !== 'more') this.over = step;
    return step;
  }

  /** The peer has closed: the end of a body that lasts until then, a fault in the middle of any other. */
  finish(): BodyStep {
    if (this.over !== null) return this.over.kind === 'end' ? { ...this.over, rest: NOTHING } : this.over;
    const isWhole = this.chunked === null && this.left === 0;
    this.over = isWhole ? endAt(NOTHING) : { kind: 'fault', fault: closed };
    return this.over;
  }

  private take(chunk: Buffer, onData: (slice: Buffer) => void): BodyStep {
    if (this.chunked !== null) return this.chunked.push(chunk, onData);
    switch (this.framing.kind) {
      case 'close':
        if (chunk.length > 0) onData(chunk);
        return MORE_STEP;
      case 'length':
        return this.takeLength(chunk, onData);
      default:
        return endAt(chunk);
    }
  }

  private takeLength(chunk: Buffer, onData: (slice: Buffer) => void): BodyStep {
    if (chunk.length <= this.left) {
      this.left -= chunk.length;
      if (chunk.length > 0) onData(chunk);
      return this.left === 0 ? endAt(NOTHING) : MORE_STEP;
    }
    const data = chunk.subarray(0, this.left);
    this.left = 0;
    if (data.length > 0) onData(data);
    return endAt(chunk.subarray(data.length));
  }
}

const closed: BodyFault = { kind: 'closed', detail: 'the connection was closed before the body was whole' };

function endAt(rest: Buffer): BodyStep {
  return { kind: 'end', rest, trailers: null };
}

/** What follows the data of a chunk. */
export const CHUNK_SUFFIX = '\r\n';

/** The last chunk with no trailers. */
export const LAST_CHUNK = '0\r\n\r\n';

/** What goes before the data of a chunk; `length` is 1 at least, since a chunk of 0 would end the body. */
export function encodeChunkHead(length: number): string {
  return `${length.toString(16)}\r\n`;
}

/** The last chunk with its trailers (RFC 9112, section 7.1.2). */
export function serializeTrailers(fields: Fields): string {
  return `0\r\n${fields.toWire()}\r\n`;
}
