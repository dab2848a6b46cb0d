import { describe, expect, it } from 'vitest';
import { requestFraming, responseFraming } from '../../src/http1/framing.js';
import { goodRequest, goodResponse, head } from './drive.js';

const requestWith = (...fields: string[]) =>
  requestFraming(goodRequest(head('POST / HTTP/1.1', 'Host: a', ...fields)));
const responseWith = (line: string, method: string, ...fields: string[]) =>
  responseFraming(goodResponse(head(`HTTP/1.1 ${line}`, ...fields)), method);

const none = { kind: 'framing', framing: { kind: 'none' } };
const close = { kind: 'framing', framing: { kind: 'close' } };
const chunked = { kind: 'framing', framing: { kind: 'chunked' } };
const length = (bytes: number) => ({ kind: 'framing', framing: { kind: 'length', length: bytes } });

describe('the body of a request', () => {
  it('is as long as it says', () => {
    expect(requestWith()).toEqual(none);
    expect(requestWith('Content-Length: 0')).toEqual(length(0));
    expect(requestWith('Content-Length: 17')).toEqual(length(17));
    expect(requestWith('Transfer-Encoding: chunked')).toEqual(chunked);
  });

  it('is none after a CONNECT that says so', () => {
    const connect = goodRequest(head('CONNECT a:1 HTTP/1.1', 'Content-Length: 0'));
    expect(requestFraming(connect)).toEqual(none);
  });
});

describe('the body of an answer', () => {
  it.each([
    ['HEAD', '200 OK', 'HEAD', ['Content-Length: 5']],
    ['HEAD with chunks', '200 OK', 'HEAD', ['Transfer-Encoding: gzip, chunked']],
    ['204 with chunks (H23)', '204 No Content', 'GET', ['Transfer-Encoding: chunked']],
    ['304 with a length', '304 Not Modified', 'GET', ['Content-Length: 5']],
    ['100', '100 Continue', 'POST', []],
    ['103', '103 Early Hints', 'GET', ['Content-Length: 0']],
    ['101', '101 Switching Protocols', 'GET', ['Transfer-Encoding: chunked']],
    ['2xx to CONNECT with a length (C08)', '200 OK', 'CONNECT', ['Content-Length: 0']],
    ['2xx to CONNECT with chunks (C08)', '299 x', 'CONNECT', ['Transfer-Encoding: chunked']],
    [
      '2xx to CONNECT with nonsense (C08)',
      '200 OK',
      'CONNECT',
      ['Content-Length: x', 'Transfer-Encoding: y'],
    ],
  ])('is none: %s', (_, line, method, fields) => {
    expect(responseWith(line, method, ...fields)).toEqual(none);
  });

  it('is what a refused CONNECT says (C09)', () => {
    expect(responseWith('403 No', 'CONNECT', 'Transfer-Encoding: chunked')).toEqual(chunked);
    expect(responseWith('407 No', 'CONNECT', 'Content-Length: 2')).toEqual(length(2));
  });

  it('lasts until the close when nothing is said (H25)', () => {
    expect(responseWith('200 OK', 'GET')).toEqual(close);
    expect(responseWith('200 OK', 'GET', 'Transfer-Encoding: identity')).toEqual(close);
  });

  it('is chunked, in any case, between empty members, with identity, in 1.0', () => {
    for (const value of ['chunked', 'Chunked', 'chunked,', ', chunked', 'identity, chunked']) {
      expect(responseWith('200 OK', 'GET', `Transfer-Encoding: ${value}`)).toEqual(chunked);
    }
    const old = goodResponse(head('HTTP/1.0 200 OK', 'Transfer-Encoding: chunked'));
    expect(responseFraming(old, 'GET')).toEqual(chunked);
  });

  it.each([
    ['gzip, chunked', 'unsupported_coding'],
    ['gzip', 'malformed'],
    ['chunked, gzip', 'malformed'],
    ['chunked, chunked', 'malformed'],
    ['"chunked"', 'malformed'],
    ['', 'malformed'],
  ])('is refused: Transfer-Encoding %j', (value, kind) => {
    expect(responseWith('200 OK', 'GET', `Transfer-Encoding: ${value}`)).toMatchObject({ fault: { kind } });
  });

  it('is refused for HEAD, 204 and 304 when the head contradicts itself', () => {
    expect(responseWith('200 OK', 'HEAD', 'Content-Length: x').kind).toBe('fault');
    expect(responseWith('204 x', 'GET', 'Content-Length: 0', 'Transfer-Encoding: chunked').kind).toBe(
      'fault',
    );
  });
});
