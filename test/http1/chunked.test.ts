import { describe, expect, it } from 'vitest';
import { byteByByte, bytesOf, chunkedOf, cutAt, readBody } from './drive.js';

const chunked = { kind: 'chunked' } as const;

describe('chunks', () => {
  const text = '5\r\nhello\r\n00A;x="y z"\r\n, worldly!\r\n0\r\n\r\nGET /';

  it('are decoded the same wherever they are cut, extensions dropped (H05)', () => {
    const bytes = bytesOf(text);
    const expected = { kind: 'end', data: 'hello, worldly!', rest: 'GET /', trailers: null };
    expect(chunkedOf(text)).toEqual(expected);
    for (let at = 1; at < bytes.length; at++) expect(readBody(chunked, cutAt(bytes, [at]))).toEqual(expected);
    expect(readBody(chunked, byteByByte(bytes))).toEqual(expected);
  });

  it.each(['5\r\nhel', '5\r\nhello', '5\r\nhello\r\n', '5', '5\r', '', '0\r\n', '0\r\nX: y\r\n', '0\r\n\r'])(
    'cut after %j are never whole (H26)',
    (start) => {
      expect(chunkedOf(start).kind).toBe('more');
      expect(readBody(chunked, [bytesOf(start)], { closes: true })).toMatchObject({ fault: 'closed' });
    },
  );

  it('may have the largest size that can be counted', () => {
    expect(chunkedOf('001fffffffffffff\r\nx')).toMatchObject({ kind: 'more', data: 'x' });
    expect(chunkedOf('0020000000000000\r\nx')).toMatchObject({ fault: 'malformed' });
  });
});

describe('extensions', () => {
  const sized = (bytes: number): string => `1;${'e'.repeat(bytes)}\r\nx\r\n`;

  it('may weigh 16 KiB, and as much more as the data', () => {
    expect(chunkedOf(sized(16_384)).kind).toBe('more');
    expect(chunkedOf(sized(16_385))).toMatchObject({ kind: 'fault', fault: 'too_large' });
    expect(chunkedOf(sized(16_384) + sized(2))).toMatchObject({ kind: 'fault', fault: 'too_large' });
    const signed = `800;${'e'.repeat(80)}\r\n${'x'.repeat(2048)}\r\n`;
    expect(chunkedOf(signed.repeat(300)).kind).toBe('more');
  });

  it('count, when they are blanks', () => {
    expect(chunkedOf(`1${' '.repeat(17_000)}\r\nx`, true)).toMatchObject({ fault: 'too_large' });
  });
});

describe('sloppy chunks from a target', () => {
  it.each([
    ['a blank after the size (H05)', '5 \r\nhello\r\n0 \t\r\n\r\n'],
    ['a blank before an extension', '5 ;a=b\r\nhello\r\n0\r\n\r\n'],
    ['LF line ends', '5\nhello\n0\n\n'],
    ['LF after a blank and after an extension', '5 \nhello\n0;a\n\n'],
  ])('are taken: %s', (_, text) => {
    expect(chunkedOf(text, true)).toMatchObject({ kind: 'end', data: 'hello', rest: '' });
    expect(readBody(chunked, byteByByte(bytesOf(text)), { tolerant: true })).toMatchObject({ kind: 'end' });
  });

  it.each(['5 5\r\nhello', '5\rhello', '5\r\nhelloX', '5\r\nhello\rX', ' 5\r\n', 'x', '5;\x01\r\n', '5 x'])(
    'are refused: %j',
    (text) => {
      expect(chunkedOf(text, true)).toMatchObject({ kind: 'fault', fault: 'malformed' });
    },
  );
});

describe('trailers (H20)', () => {
  it('are read with the body, repeated ones too', () => {
    const text = '0\r\nX-A: 1\r\nx-a: 2\r\n\r\nrest';
    const expected = {
      kind: 'end',
      data: '',
      rest: 'rest',
      trailers: [
        ['X-A', '1'],
        ['x-a', '2'],
      ],
    };
    expect(chunkedOf(text)).toEqual(expected);
    expect(readBody(chunked, byteByByte(bytesOf(text)))).toEqual(expected);
  });

  it.each([
    'Host: evil',
    'Connection: close',
    'Trailer: X',
    'Proxy-Authorization: x',
    'Set-Cookie: a',
    'TE: x',
    'Authorization: x',
  ])('that would frame, route or admit are dropped: %s', (line) => {
    expect(chunkedOf(`0\r\n${line}\r\n\r\n`)).toMatchObject({ kind: 'end', trailers: null });
    expect(chunkedOf(`0\r\n${line}\r\nX: y\r\n\r\n`).trailers).toEqual([['X', 'y']]);
  });

  it('about framing are dropped from answers', () => {
    const text = '0\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nX : y\n\r\n';
    expect(chunkedOf(text, true)).toMatchObject({ kind: 'end', trailers: [['X', 'y']] });
  });

  it('have limits', () => {
    const small = { headBytes: 40, fieldCount: 2 };
    const many = '0\r\nA: a\r\nB: b\r\nC: c\r\n\r\n';
    const long = `0\r\nA: ${'a'.repeat(50)}`;
    for (const text of [many, long, `${long}\r\n\r\n`]) {
      expect(readBody(chunked, [bytesOf(text)], { trailerLimits: small })).toMatchObject({
        fault: 'too_large',
      });
      expect(readBody(chunked, byteByByte(bytesOf(text)), { trailerLimits: small })).toMatchObject({
        fault: 'too_large',
      });
    }
  });

  it('with a control byte in a framing field are a fault even from a target', () => {
    expect(chunkedOf('0\r\nContent-Length: \x01\r\n\r\n', true)).toMatchObject({ fault: 'malformed' });
  });
});
