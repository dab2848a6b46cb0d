import { describe, expect, it } from 'vitest';
import {
  BodyReader,
  CHUNK_SUFFIX,
  LAST_CHUNK,
  encodeChunkHead,
  requestFraming,
  responseFraming,
  serializeTrailers,
} from '../../src/http1/body.js';
import { Fields } from '../../src/http1/fields.js';
import * as framing from '../../src/http1/framing.js';
import { byteByByte, bytesOf, chunkedOf, limits, readBody } from './drive.js';

const options = { tolerant: false, trailerLimits: limits };

describe('a body of known length', () => {
  it('ends after its last byte, the rest handed back', () => {
    const bytes = bytesOf('helloGET /');
    const expected = { kind: 'end', data: 'hello', rest: 'GET /', trailers: null };
    expect(readBody({ kind: 'length', length: 5 }, [Buffer.from(bytes)])).toEqual(expected);
    expect(readBody({ kind: 'length', length: 5 }, byteByByte(bytes))).toEqual(expected);
    expect(readBody({ kind: 'length', length: 5 }, [bytesOf('hello')])).toMatchObject({
      kind: 'end',
      rest: '',
    });
  });

  it('ends at once when there is none, even with no bytes', () => {
    for (const framed of [{ kind: 'none' }, { kind: 'length', length: 0 }] as const) {
      expect(readBody(framed, [Buffer.alloc(0)])).toMatchObject({ kind: 'end', data: '' });
      expect(readBody(framed, [bytesOf('GET')])).toMatchObject({ kind: 'end', data: '', rest: 'GET' });
      expect(readBody(framed, [], { closes: true })).toMatchObject({ kind: 'end' });
    }
  });

  it('is cut, not whole, when the peer closes early (H26)', () => {
    expect(readBody({ kind: 'length', length: 5 }, [bytesOf('hell')], { closes: true })).toEqual({
      kind: 'fault',
      data: 'hell',
      fault: 'closed',
    });
  });

  it('gives views of the chunk and no copies', () => {
    const chunk = bytesOf('hello, and more');
    const slices: Buffer[] = [];
    const reader = new BodyReader({ kind: 'length', length: 5 }, options);
    const step = reader.push(chunk, (slice) => slices.push(slice));
    expect(slices.map((slice) => slice.buffer)).toEqual([chunk.buffer]);
    expect(step.kind === 'end' && step.rest.buffer).toBe(chunk.buffer);
  });
});

describe('a body until the close', () => {
  it('ends with the close and not before (H25)', () => {
    expect(readBody({ kind: 'close' }, [bytesOf('ab'), Buffer.alloc(0), bytesOf('c')])).toEqual({
      kind: 'more',
      data: 'abc',
    });
    expect(readBody({ kind: 'close' }, [bytesOf('abc')], { closes: true })).toMatchObject({
      kind: 'end',
      data: 'abc',
    });
  });
});

describe('after the end', () => {
  it('hands everything back', () => {
    const reader = new BodyReader({ kind: 'length', length: 1 }, options);
    reader.push(bytesOf('a'), () => undefined);
    const step = reader.push(bytesOf('next'), () => expect.unreachable());
    expect(step.kind === 'end' && step.rest.toString()).toBe('next');
    expect(reader.finish()).toMatchObject({ kind: 'end', rest: Buffer.alloc(0) });
  });

  it('repeats a fault', () => {
    const reader = new BodyReader({ kind: 'chunked' }, options);
    expect(reader.push(bytesOf('x'), () => undefined).kind).toBe('fault');
    expect(reader.push(bytesOf('0\r\n\r\n'), () => undefined)).toMatchObject({
      fault: { kind: 'malformed' },
    });
    expect(reader.finish()).toMatchObject({ fault: { kind: 'malformed' } });
  });

  it('repeats that the peer closed', () => {
    const reader = new BodyReader({ kind: 'chunked' }, options);
    expect(reader.finish()).toMatchObject({ fault: { kind: 'closed' } });
    expect(reader.push(bytesOf('0\r\n\r\n'), () => undefined)).toMatchObject({ fault: { kind: 'closed' } });
  });
});

describe('writing chunks', () => {
  it('writes what the strict reader reads', () => {
    const trailers = Fields.of(['X-Sum', '1'], ['X-Sum', '2']);
    const text = `${encodeChunkHead(26)}${'a'.repeat(26)}${CHUNK_SUFFIX}${serializeTrailers(trailers)}`;
    expect(text.startsWith('1a\r\n')).toBe(true);
    expect(chunkedOf(text)).toEqual({
      kind: 'end',
      data: 'a'.repeat(26),
      rest: '',
      trailers: trailers.pairs(),
    });
    expect(serializeTrailers(Fields.empty())).toBe(LAST_CHUNK);
  });
});

it('body.ts is the door to the framing', () => {
  expect(requestFraming).toBe(framing.requestFraming);
  expect(responseFraming).toBe(framing.responseFraming);
});
