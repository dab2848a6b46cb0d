/** Drives the codec in tests: bytes cut as told in, plain values out. Every piece is overwritten after its push. */
import type { BodyStep, Framing } from '../../src/http1/body.js';
import { BodyReader } from '../../src/http1/body.js';
import type { HeadLimits, HeadStep, RequestHead, ResponseHead } from '../../src/http1/head.js';
import { RequestHeadReader, ResponseHeadReader } from '../../src/http1/head.js';

/** Property tests draw the same values in every run. */
export const SEED = 20_240_601;

export const limits: HeadLimits = { headBytes: 65_536, fieldCount: 100 };

export const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Lines joined and ended by CRLF, and a blank line. */
export const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

/** Cuts the bytes into copies that end at these places. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.filter((place) => place > 0 && place < bytes.length), bytes.length];
  let start = 0;
  return ends
    .sort((a, b) => a - b)
    .map((end) => {
      const piece = Buffer.from(bytes.subarray(start, end));
      start = end;
      return piece;
    });
}

export const byteByByte = (bytes: Buffer): Buffer[] =>
  cutAt(
    bytes,
    Array.from({ length: bytes.length }, (_, i) => i),
  );

export interface HeadSummary {
  readonly kind: string;
  readonly line?: string;
  readonly pairs?: readonly (readonly [string, string])[];
  readonly tolerated?: readonly string[];
  readonly rest?: string;
  readonly fault?: string;
}

interface Reader<H> {
  push(chunk: Buffer): HeadStep<H>;
}

function drive<H extends RequestHead | ResponseHead>(
  reader: Reader<H>,
  pieces: readonly Buffer[],
): HeadSummary {
  for (const [index, piece] of pieces.entries()) {
    const step = reader.push(piece);
    if (step.kind === 'fault') return { kind: 'fault', fault: step.fault.kind };
    if (step.kind === 'head') {
      const rest = Buffer.concat([step.rest, ...pieces.slice(index + 1)]).toString('latin1');
      return { ...summaryOf(step.head), rest };
    }
    piece.fill(0x58);
  }
  return { kind: 'more' };
}

function summaryOf(message: RequestHead | ResponseHead): HeadSummary {
  const pairs = message.fields.pairs();
  if ('method' in message) {
    return { kind: 'head', line: `${message.method} ${message.target} 1.${message.minor}`, pairs };
  }
  const line = `1.${message.minor} ${message.status} ${message.reason}`;
  return { kind: 'head', line, pairs, tolerated: message.tolerated };
}

/** What the strict reader makes of these pieces. */
export const readRequest = (pieces: readonly Buffer[], within: HeadLimits = limits): HeadSummary =>
  drive(new RequestHeadReader(within), pieces);

/** What the tolerant reader makes of these pieces. */
export const readResponse = (pieces: readonly Buffer[], within: HeadLimits = limits): HeadSummary =>
  drive(new ResponseHeadReader(within), pieces);

export const requestOf = (text: string): HeadSummary => readRequest([bytesOf(text)]);
export const responseOf = (text: string): HeadSummary => readResponse([bytesOf(text)]);

/** The head of a request that must be good. */
export function goodRequest(text: string): RequestHead {
  const step = new RequestHeadReader(limits).push(bytesOf(text));
  if (step.kind !== 'head') throw new Error(`no head: ${JSON.stringify(step)}`);
  return step.head;
}

/** The head of a response that must be good. */
export function goodResponse(text: string): ResponseHead {
  const step = new ResponseHeadReader(limits).push(bytesOf(text));
  if (step.kind !== 'head') throw new Error(`no head: ${JSON.stringify(step)}`);
  return step.head;
}

export interface BodySummary {
  readonly kind: BodyStep['kind'];
  readonly data: string;
  readonly rest?: string;
  readonly trailers?: readonly (readonly [string, string])[] | null;
  readonly fault?: string;
}

/** What the body reader makes of these pieces, and of a close after them when `closes`. */
export function readBody(
  framing: Framing,
  pieces: readonly Buffer[],
  options: { tolerant?: boolean; closes?: boolean; trailerLimits?: HeadLimits } = {},
): BodySummary {
  const { tolerant = false, closes = false, trailerLimits = limits } = options;
  const reader = new BodyReader(framing, { tolerant, trailerLimits });
  let data = '';
  let step: BodyStep = { kind: 'more' };
  const onData = (slice: Buffer): void => {
    if (slice.length === 0) throw new Error('an empty slice');
    data += slice.toString('latin1');
  };
  for (const [index, piece] of pieces.entries()) {
    step = reader.push(piece, onData);
    if (step.kind === 'end') {
      const rest = Buffer.concat([step.rest, ...pieces.slice(index + 1)]).toString('latin1');
      return { kind: 'end', data, rest, trailers: step.trailers?.pairs() ?? null };
    }
    if (step.kind === 'fault') break;
    piece.fill(0x58);
  }
  if (step.kind === 'more' && closes) step = reader.finish();
  if (step.kind === 'fault') return { kind: 'fault', data, fault: step.fault.kind };
  return { kind: step.kind, data };
}

/** The chunked body in this text, cut nowhere. */
export const chunkedOf = (text: string, tolerant = false): BodySummary =>
  readBody({ kind: 'chunked' }, [bytesOf(text)], { tolerant });
