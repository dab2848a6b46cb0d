/**
 * Undoes one layer of content coding for the rules to look at, never more than a bound of it. A body that swells
 * beyond all reason, has two layers or can't be read is not looked at; what the client gets is not touched by any of it.
 */
import zlib from 'node:zlib';
import type { BodyNotInspected } from '../core/events.js';
import type { Fields } from '../http1/fields.js';

/** A body as far as it was decoded. */
export type Decoded =
  /** `isEnd`: nothing comes behind it. */
  | { readonly kind: 'decoded'; readonly bytes: Buffer; readonly isEnd: boolean }
  | { readonly kind: 'not_inspected'; readonly why: NotInspected };

/** Why a body was not looked at. */
export type NotInspected = BodyNotInspected['reason'];

/** More than this many times its size no page becomes; what does is a bomb. */
const MOST_RATIO = 200;
/** Below this nothing is said about ratios. */
const RATIO_FROM = 8192;
const CHUNK = 16 * 1024;
/** Largest window that a zstd frame may ask for: what RFC 8878 wants every decoder to have. */
const MOST_ZSTD_WINDOW = 8 * 1024 * 1024;

const refused = (why: NotInspected): Decoded => ({ kind: 'not_inspected', why });

/** The one coding of a body: `identity` where there is none, null where there are several. */
export function codingOf(fields: Fields): string | null {
  if (!fields.has('content-encoding')) return 'identity';
  const codings = fields
    .all('content-encoding')
    .join(',')
    .split(',')
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > 1) return null;
  return codings[0] ?? 'identity';
}

/** Decodes the beginning of a body up to `limit` bytes. `isWhole`: `bytes` is all of it. Never rejects. */
export function decodeBody(
  bytes: Buffer,
  how: { readonly coding: string | null; readonly limit: number; readonly isWhole: boolean },
): Decoded | Promise<Decoded> {
  const { coding, limit, isWhole } = how;
  if (coding === null) return refused('coding_nested');
  if (coding === 'identity' || bytes.length === 0) {
    return { kind: 'decoded', bytes: bytes.subarray(0, limit), isEnd: isWhole && bytes.length <= limit };
  }
  if (coding === 'zstd') return unzstd(bytes, limit, isWhole);
  const stream = inflaterFor(coding, bytes, isWhole);
  return stream === null ? refused('coding_unknown') : drain(stream, bytes, { limit, isWhole });
}

/** A beginning is read as far as it goes; what claims to be whole must end. */
function inflaterFor(
  coding: string,
  bytes: Buffer,
  isWhole: boolean,
): zlib.Gunzip | zlib.BrotliDecompress | null {
  const { Z_FINISH, Z_SYNC_FLUSH, BROTLI_OPERATION_FINISH, BROTLI_OPERATION_FLUSH } = zlib.constants;
  const options = { finishFlush: isWhole ? Z_FINISH : Z_SYNC_FLUSH, chunkSize: CHUNK };
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(options);
    case 'deflate':
      // RFC 9110, section 8.4.1.2: zlib's wrapper is meant, and some send without.
      return isZlib(bytes) ? zlib.createInflate(options) : zlib.createInflateRaw(options);
    case 'br':
      return zlib.createBrotliDecompress({
        finishFlush: isWhole ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_FLUSH,
        chunkSize: CHUNK,
      });
    default:
      return null;
  }
}

function isZlib(bytes: Buffer): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}

interface Inflater {
  on(event: 'data', heard: (chunk: Buffer) => void): unknown;
  on(event: 'end' | 'error' | 'close', heard: () => void): unknown;
  end(bytes: Buffer): unknown;
  destroy(): unknown;
  readonly bytesWritten: number;
}

function drain(
  stream: Inflater,
  bytes: Buffer,
  how: { readonly limit: number; readonly isWhole: boolean },
): Promise<Decoded> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const done = (isEnd: boolean): void => {
      stream.destroy();
      resolve(decoded(chunks, length, { limit: how.limit, isEnd }));
    };
    stream.on('data', (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > RATIO_FROM && length > Math.max(stream.bytesWritten, 1) * MOST_RATIO) {
        stream.destroy();
        resolve(refused('swells'));
      } else if (length >= how.limit) done(false);
    });
    stream.on('end', () => done(how.isWhole));
    stream.on('error', () => {
      if (length === 0) resolve(refused('coding_broken'));
      else done(false);
    });
    stream.on('close', () => done(false));
    stream.end(bytes);
  });
}

function decoded(
  chunks: readonly Uint8Array[],
  length: number,
  end: { readonly limit: number; readonly isEnd: boolean },
): Decoded {
  const bytes = Buffer.concat(chunks, length);
  return { kind: 'decoded', bytes: bytes.subarray(0, end.limit), isEnd: end.isEnd && length <= end.limit };
}

/** Thrown by us to leave the decoder in the middle of a chunk. */
const ENOUGH = new Error('enough was decoded');

async function unzstd(bytes: Buffer, limit: number, isWhole: boolean): Promise<Decoded> {
  const window = zstdWindow(bytes);
  if (window === null) return refused('coding_broken');
  if (window > MOST_ZSTD_WINDOW) return refused('swells');
  // Loaded when the first body wants it.
  const { Decompress } = await import('fzstd');
  const chunks: Uint8Array[] = [];
  let length = 0;
  let fed = 0;
  const decoder = new Decompress((chunk) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= limit) throw ENOUGH;
  });
  try {
    while (fed < bytes.length) {
      const next = bytes.subarray(fed, fed + ZSTD_STEP);
      fed += next.length;
      decoder.push(next, isWhole && fed >= bytes.length);
    }
  } catch (error) {
    if (error !== ENOUGH && length === 0) return refused('coding_broken');
    const isBomb = length > RATIO_FROM && length > fed * MOST_RATIO;
    return isBomb ? refused('swells') : decoded(chunks, length, { limit, isEnd: false });
  }
  return decoded(chunks, length, { limit, isEnd: isWhole });
}

/** So much is fed at once: small, so that the ratio is seen early. */
const ZSTD_STEP = 512;

/** The window that the first frame asks for (RFC 8878, section 3.1.1.1), or null where this is no zstd. */
function zstdWindow(bytes: Buffer): number | null {
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== 0xfd2fb528) return null;
  const descriptor = bytes[4] ?? 0;
  if ((descriptor & 0x20) === 0) {
    const field = bytes[5] ?? 0;
    const base = 2 ** (10 + (field >> 3));
    return base + (base / 8) * (field & 7);
  }
  const sizeBytes = [1, 2, 4, 8][descriptor >> 6] ?? 1;
  const at = 5 + ([0, 1, 2, 4][descriptor & 3] ?? 0);
  if (bytes.length < at + sizeBytes) return null;
  if (sizeBytes === 8) return Number(bytes.readBigUInt64LE(at));
  return bytes.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
}
