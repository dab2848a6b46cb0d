/** One layer of coding is undone within bounds; bombs and broken bodies are told, never inflated. */
import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { codingOf, decodeBody } from '../../src/gateway/decode-body.js';
import { Fields } from '../../src/http1/fields.js';

const text = Buffer.from(Array.from({ length: 400 }, (_, n) => `<p>line ${n * 7919}</p>`).join('\n'));
const MIB = 1024 * 1024;

/** Frames of zstd by hand: raw blocks, or blocks that repeat one byte. */
function zstd(blocks: readonly Buffer[], windowExponent = 7): Buffer {
  return Buffer.concat([Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0, windowExponent << 3), ...blocks]);
}

function block(kind: 'raw' | 'rle', size: number, body: Buffer, isLast: boolean): Buffer {
  const head = (size << 3) | (kind === 'rle' ? 2 : 0) | (isLast ? 1 : 0);
  return Buffer.concat([Buffer.of(head & 255, (head >> 8) & 255, head >> 16), body]);
}

const rleBomb = zstd(Array.from({ length: 800 }, (_, n) => block('rle', 131_072, Buffer.of(65), n === 799)));

const decode = async (bytes: Buffer, coding: string | null, limit = 256 * 1024, isWhole = true) =>
  decodeBody(bytes, { coding, limit, isWhole });

describe('decodeBody', () => {
  it.each([
    ['identity', text],
    ['gzip', zlib.gzipSync(text)],
    ['x-gzip', zlib.gzipSync(text)],
    ['deflate', zlib.deflateSync(text)],
    ['deflate', zlib.deflateRawSync(text)],
    ['br', zlib.brotliCompressSync(text)],
    ['zstd', zstd([block('raw', text.length, text, true)])],
  ])('%s', async (coding, bytes) => {
    expect(await decode(bytes, coding)).toEqual({ kind: 'decoded', bytes: text, isEnd: true });
    const beginning = await decode(bytes, coding, 100);
    expect(beginning).toEqual({ kind: 'decoded', bytes: text.subarray(0, 100), isEnd: false });
  });

  it.each([
    ['gzip', zlib.gzipSync(text)],
    ['br', zlib.brotliCompressSync(text)],
  ])('the beginning of %s is read as far as it goes', async (coding, bytes) => {
    const cut = await decode(bytes.subarray(0, bytes.length >> 1), coding, 256 * 1024, false);
    if (cut.kind !== 'decoded') throw new Error(cut.why);
    expect(cut.isEnd).toBe(false);
    expect(cut.bytes.length).toBeGreaterThan(100);
    expect(text.subarray(0, cut.bytes.length).equals(cut.bytes)).toBe(true);
  });

  it.each([
    ['gzip', 'gzip', zlib.gzipSync(Buffer.alloc(64 * MIB)).subarray(0, 65_536)],
    ['br', 'br', zlib.brotliCompressSync(Buffer.alloc(64 * MIB))],
    [
      'many members of gzip',
      'gzip',
      Buffer.concat(Array.from({ length: 30 }, () => zlib.gzipSync(Buffer.alloc(MIB)))),
    ],
    ['zstd', 'zstd', rleBomb],
    ['a zstd window of 64 GiB', 'zstd', zstd([block('raw', 1, Buffer.of(65), true)], 26)],
  ])('S7 a bomb of %s is not inspected', async (_name, coding, bytes) => {
    expect(await decode(bytes, coding)).toEqual({ kind: 'not_inspected', why: 'swells' });
  });

  it.each([
    [null, text, 'coding_nested'],
    ['compress', text, 'coding_unknown'],
    ['gzip', text, 'coding_broken'],
    ['br', Buffer.from('<html>no brotli at all</html>'), 'coding_broken'],
    ['zstd', text, 'coding_broken'],
    ['zstd', zstd([Buffer.of(7, 255, 255)]), 'coding_broken'],
  ])('%s of something else is not inspected', async (coding, bytes, why) => {
    expect(await decode(bytes, coding)).toEqual({ kind: 'not_inspected', why });
  });
});

describe('codingOf', () => {
  it.each([
    [[], 'identity'],
    [['GZIP'], 'gzip'],
    [['identity, br'], 'br'],
    [['gzip, gzip'], null],
    [['gzip', 'br'], null],
    [[''], 'identity'],
  ])('%o is %s', (values, coding) => {
    expect(codingOf(Fields.of(...values.map((value) => ['Content-Encoding', value] as const)))).toBe(coding);
  });
});
