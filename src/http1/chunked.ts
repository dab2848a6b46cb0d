/**
 * The chunked coding (RFC 9112, section 7.1), decoding: where chunk data begins and ends, and the trailer section.
 * Strict or tolerant as told. Extensions are dropped. Knows nothing of what becomes of the data.
 */
import { ExtensionWatch } from './chunk-extension.js';
import { FAULT, FieldLines } from './field-lines.js';
import type { Fields } from './fields.js';
import { isHopByHop } from './fields.js';
import { HeldBytes } from './held-bytes.js';
import type { HeadLimits } from './message.js';
import { CR, HEX, LF, VALUE, isBlank } from './octets.js';
import type { BodyFault } from './stream.js';

/** What one push of a body brought. `rest` is a view of the bytes after the body. */
export type BodyStep =
  | { readonly kind: 'more' }
  | { readonly kind: 'end'; readonly rest: Buffer; readonly trailers: Fields | null }
  | { readonly kind: 'fault'; readonly fault: BodyFault };

const MAX_SIZE_DIGITS = 16;
/** Extensions may weigh this much, and as much again as the data. */
const FREE_EXTENSION_BYTES = 16_384;
const SEMICOLON = 0x3b;
const MORE_STEP = { kind: 'more' } as const;

/** Where in the coding the next byte stands. */
type Place =
  | 'size'
  | 'blanks_after_size'
  | 'extension'
  | 'size_lf'
  | 'data'
  | 'data_cr'
  | 'data_lf'
  | 'trailers'
  | 'over';

/** Fields that would change, too late, where the message ends, where it goes or who may see it (RFC 9110, 6.5.1). */
const NEVER_IN_TRAILERS = new Set([
  'content-length',
  'content-encoding',
  'content-type',
  'content-range',
  'host',
  'authorization',
  'cookie',
  'set-cookie',
  'expect',
  'max-forwards',
  'location',
  'www-authenticate',
]);

/** Decodes one chunked body. */
export class ChunkedDecoder {
  private place: Place = 'size';
  private size = 0;
  private digits = 0;
  private dataBytes = 0;
  private extensionBytes = 0;
  private readonly extension = new ExtensionWatch();
  private readonly trailers: TrailerSection;
  private fault: BodyFault | null = null;

  constructor(
    private readonly tolerant: boolean,
    trailerLimits: HeadLimits,
  ) {
    this.trailers = new TrailerSection(tolerant, trailerLimits);
  }

  push(chunk: Buffer, onData: (slice: Buffer) => void): BodyStep {
    let at = 0;
    while (at < chunk.length && this.fault === null && this.place !== 'over') {
      if (this.place === 'data') at = this.takeData(chunk, at, onData);
      else if (this.place === 'trailers') at = this.takeTrailers(chunk, at);
      else this.takeOctet(chunk[at++] as number);
    }
    if (this.fault !== null) return { kind: 'fault', fault: this.fault };
    if (this.place !== 'over') return MORE_STEP;
    return { kind: 'end', rest: chunk.subarray(at), trailers: this.trailers.kept() };
  }

  private takeData(chunk: Buffer, at: number, onData: (slice: Buffer) => void): number {
    const end = Math.min(chunk.length, at + this.size);
    this.size -= end - at;
    this.dataBytes += end - at;
    if (this.size === 0) this.place = 'data_cr';
    onData(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
    return end;
  }

  private takeTrailers(chunk: Buffer, at: number): number {
    const end = this.trailers.read(chunk, at);
    this.fault = this.trailers.fault;
    if (end < 0) return chunk.length;
    this.place = 'over';
    return end;
  }

  private takeOctet(octet: number): void {
    switch (this.place) {
      case 'size':
        return this.takeSize(octet);
      case 'blanks_after_size':
        if (!isBlank(octet)) this.afterSize(octet);
        else this.countExtension();
        return;
      case 'extension':
        return this.takeExtension(octet);
      case 'size_lf':
        if (octet === LF) this.beginChunk();
        else this.fail('a CR without LF after a chunk size');
        return;
      case 'data_cr':
        if (octet === CR) this.place = 'data_lf';
        else if (octet === LF && this.tolerant) this.nextChunk();
        else this.fail('no line end after the data of a chunk');
        return;
      case 'data_lf':
        if (octet === LF) this.nextChunk();
        else this.fail('no line end after the data of a chunk');
        return;
      case 'data':
      case 'trailers':
      case 'over':
        return;
    }
  }

  private takeSize(octet: number): void {
    const digit = HEX[octet] as number;
    if (digit > 15) {
      if (this.digits === 0) this.fail('a chunk without size');
      else this.afterSize(octet);
      return;
    }
    this.size = this.size * 16 + digit;
    if (++this.digits > MAX_SIZE_DIGITS || this.size > Number.MAX_SAFE_INTEGER)
      this.fail('a chunk size too large');
  }

  private afterSize(octet: number): void {
    if (octet === CR) this.place = 'size_lf';
    else if (octet === SEMICOLON) this.place = 'extension';
    else if (octet === LF && this.tolerant) this.beginChunk();
    else if (isBlank(octet) && this.tolerant) this.place = 'blanks_after_size';
    else this.fail('a bad character in a chunk size');
  }

  private takeExtension(octet: number): void {
    if (octet === CR) this.endExtension();
    else if (octet === LF && this.tolerant) this.beginChunk();
    else if (this.tolerant ? VALUE[octet] : this.extension.take(octet)) this.countExtension();
    else this.fail('a bad character in a chunk extension');
  }

  private endExtension(): void {
    if (this.tolerant || this.extension.mayEnd) this.place = 'size_lf';
    else this.fail('a chunk extension without its end');
  }

  private countExtension(): void {
    if (++this.extensionBytes > FREE_EXTENSION_BYTES + this.dataBytes) {
      this.fault = { kind: 'too_large', detail: 'chunk extensions outweigh the data' };
    }
  }

  private beginChunk(): void {
    this.place = this.size === 0 ? 'trailers' : 'data';
  }

  private nextChunk(): void {
    this.place = 'size';
    this.size = 0;
    this.digits = 0;
    this.extension.restart();
  }

  private fail(detail: string): void {
    this.fault = { kind: 'malformed', detail };
  }
}

/** The lines after the last chunk (RFC 9112, section 7.1.2). */
class TrailerSection {
  fault: BodyFault | null = null;
  private readonly lines: FieldLines;
  private readonly held = new HeldBytes();
  private taken = 0;

  constructor(
    private readonly tolerant: boolean,
    private readonly limits: HeadLimits,
  ) {
    this.lines = new FieldLines(limits.fieldCount, tolerant);
  }

  /** Takes bytes up to the blank line; returns the index after it, or -1. */
  read(chunk: Buffer, from: number): number {
    for (let at = from; ;) {
      const lineEnd = chunk.indexOf(LF, at) + 1;
      const part = chunk.subarray(at, lineEnd === 0 ? chunk.length : lineEnd);
      this.taken += part.length;
      if (this.taken > this.limits.headBytes) return this.fail('too_large', 'a trailer section too large');
      if (lineEnd === 0) {
        this.held.append(part);
        return -1;
      }
      const end = this.lines.read(this.held.release() + part.toString('latin1'), 0);
      if (end === FAULT) return this.failFromLines();
      if (end >= 0) return this.framesTooLate() ? this.fail('malformed', 'a trailer about framing') : lineEnd;
      at = lineEnd;
    }
  }

  /** The trailers that may go on, or null where there are none. */
  kept(): Fields | null {
    if (this.lines.fields.length === 0) return null;
    const kept = this.lines.fields.without((name) => NEVER_IN_TRAILERS.has(name) || isHopByHop(name));
    return kept.length === 0 ? null : kept;
  }

  private framesTooLate(): boolean {
    const { fields } = this.lines;
    return !this.tolerant && (fields.has('content-length') || fields.has('transfer-encoding'));
  }

  private failFromLines(): number {
    const { kind, detail } = this.lines.fault ?? { kind: 'malformed', detail: '' };
    return this.fail(kind === 'too_large' ? 'too_large' : 'malformed', `in a trailer: ${detail}`);
  }

  private fail(kind: BodyFault['kind'], detail: string): number {
    this.fault = { kind, detail };
    return -1;
  }
}
