import { describe, expect, it } from 'vitest';
import {
  RequestLineWatch,
  StatusLineWatch,
  parseRequestLine,
  parseStatusLine,
} from '../../src/http1/start-lines.js';
import { bytesOf } from './drive.js';

const requestLine = (line: string) => parseRequestLine(`${line}\r\nmore`, line.length);
const statusLine = (line: string) => parseStatusLine(`${line}\r\nmore`, line.length, () => undefined);

describe('a request line', () => {
  it('has three parts', () => {
    expect(requestLine('GET /a HTTP/1.0')).toEqual({ method: 'GET', target: '/a', minor: 0 });
  });

  it.each([
    ['', 'the request line does not begin with a method'],
    ['GET', 'the request line does not begin with a method'],
    ['GET ', 'more than one space after the method, or no target'],
    ['GET #f HTTP/1.1', 'a fragment in the target'],
    ['GET /#f HTTP/1.1', 'a fragment in the target'],
    ['GET /\t HTTP/1.1', 'a character in the target that may not stand there'],
    ['GET /', 'the request line does not end with a version of HTTP'],
    ['GET / ', 'the request line does not end with a version of HTTP'],
    ['GET / HTTP/1x1', 'the request line does not end with a version of HTTP'],
    ['GET / HTTP/x.1', 'the request line does not end with a version of HTTP'],
    ['GET / HTTP/2.1', 'only HTTP/1.0 and HTTP/1.1 are spoken'],
  ])('says why it is none: %j', (line, detail) => {
    expect(requestLine(line)).toMatchObject({ detail });
  });

  it('may begin as anything that can still become one', () => {
    const whole = 'GET http://a.test/\xff HTTP/1.1\r';
    expect(new RequestLineWatch().feed(bytesOf(whole))).toBeNull();
    const watch = new RequestLineWatch();
    for (const octet of bytesOf(whole)) expect(watch.feed(Buffer.of(octet))).toBeNull();
    expect(watch.feed(Buffer.of(0x58))).toMatchObject({ kind: 'malformed' });
  });
});

describe('a status line', () => {
  it('has a reason with blanks', () => {
    expect(statusLine('HTTP/1.1 404 Not Found')).toEqual({ status: 404, reason: 'Not Found', minor: 1 });
  });

  it.each(['', 'HTTP/1.1', 'HTTP/1.1 ', 'HTTP/1.1 2', 'HTTP/1.1 20', 'HTTP/1.1 20\u0660', 'HTTP/x.1 200 OK'])(
    'is none: %j',
    (line) => {
      expect(statusLine(line)).toMatchObject({ kind: 'malformed' });
    },
  );

  it('is watched by its first five bytes', () => {
    const watch = new StatusLineWatch();
    expect(watch.feed(bytesOf('HT'))).toBeNull();
    expect(watch.feed(bytesOf('TP/anything\0'))).toBeNull();
    expect(new StatusLineWatch().feed(bytesOf('HTML'))).toMatchObject({ kind: 'malformed' });
    expect(new StatusLineWatch().feed(bytesOf('\x15\x03'))).toMatchObject({
      detail: 'the answer is TLS, not HTTP',
    });
  });
});
