import { describe, expect, it } from 'vitest';
import { chunkedOf } from './drive.js';

const withExtension = (extension: string): string => `5${extension}\r\nhello\r\n0${extension}\r\n\r\n`;

describe('chunk extensions of a client', () => {
  it.each([';a', ';a=b', ';a=b;c', ';a;b=c;d="e f"', ';a=""', ';a="\\"\\\\ ;=\t\xff"', ';a="b";c', ';!#=~'])(
    'are read over: %s',
    (extension) => {
      expect(chunkedOf(withExtension(extension))).toMatchObject({ kind: 'end', data: 'hello', rest: '' });
    },
  );

  it.each([
    ';',
    ';;',
    ';a;',
    ';=b',
    ';a=',
    ';a=;b',
    ';a=b=c',
    ';a="b',
    ';a="b\\',
    ';a="b"c',
    ';a="\x01"',
    ';a="\\\x01"',
    '; a',
    ';a =b',
    ';a= b',
    ';a ',
    ';a=b"',
    ';a=\x80',
  ])('are refused: %j', (extension) => {
    expect(chunkedOf(withExtension(extension))).toMatchObject({ kind: 'fault', fault: 'malformed' });
  });

  it('of a target may be anything printable', () => {
    expect(chunkedOf(withExtension('; a = "b'), true)).toMatchObject({ kind: 'end', data: 'hello' });
  });
});
