/** The lists of SECURITY.md: what Node's parser lets pass, and what it stops. All of it must be refused here. */
import { describe, expect, it } from 'vitest';
import { requestFraming } from '../../src/http1/framing.js';
import { RequestHeadReader } from '../../src/http1/head.js';
import { byteByByte, bytesOf, chunkedOf, head, limits, readBody } from './drive.js';

/** The fault of the head or of its framing, or `ok`. */
function verdictOn(text: string): string {
  const step = new RequestHeadReader(limits).push(bytesOf(text));
  if (step.kind === 'fault') return step.fault.kind;
  if (step.kind === 'more') return 'more';
  const framing = requestFraming(step.head);
  return framing.kind === 'fault' ? framing.fault.kind : 'ok';
}

const post = (...fields: string[]): string => head('POST http://a.test/ HTTP/1.1', 'Host: a.test', ...fields);

describe('what plain Node does not stop', () => {
  it.each([
    ['two Host lines (H29)', head('GET / HTTP/1.1', 'Host: a', 'Host: a'), 'malformed'],
    ['two Host lines of different case', head('GET / HTTP/1.1', 'Host: a', 'hOST: b'), 'malformed'],
    ['an empty Host (H29)', head('GET / HTTP/1.1', 'Host:'), 'malformed'],
    ['a Host with a path', head('GET / HTTP/1.1', 'Host: a/b'), 'malformed'],
    ['a Host with userinfo', head('GET / HTTP/1.1', 'Host: u@a'), 'malformed'],
    ['no Host in 1.1', head('GET / HTTP/1.1'), 'malformed'],
    ['HTTP/2.0 in an h1 request line', head('GET / HTTP/2.0', 'Host: a'), 'unsupported_version'],
    ['no version', head('GET /', 'Host: a'), 'malformed'],
    ['no target', head('GET HTTP/1.1', 'Host: a'), 'malformed'],
    ['two spaces before the target', head('GET  / HTTP/1.1', 'Host: a'), 'malformed'],
    ['two spaces after the target', head('GET /  HTTP/1.1', 'Host: a'), 'malformed'],
    ['gzip, chunked', post('Transfer-Encoding: gzip, chunked'), 'unsupported_coding'],
    ['identity, chunked', post('Transfer-Encoding: identity, chunked'), 'unsupported_coding'],
    [
      'gzip and chunked in two lines',
      post('Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'),
      'unsupported_coding',
    ],
    ['Transfer-Encoding in 1.0', head('POST / HTTP/1.0', 'Transfer-Encoding: chunked'), 'malformed'],
    ['Content-Length: 0002', post('Content-Length: 0002'), 'malformed'],
    ['a fragment', head('GET /#f HTTP/1.1', 'Host: a'), 'malformed'],
    ['Connection: content-length', post('Connection: content-length', 'Content-Length: 1'), 'malformed'],
    ['Connection: host', head('GET / HTTP/1.1', 'Host: a', 'Connection: keep-alive, Host'), 'malformed'],
    [
      'Connection: transfer-encoding',
      post('Connection: close', 'connection: Transfer-Encoding'),
      'malformed',
    ],
    ['Connection: proxy-authorization', post('Connection:close,proxy-authorization'), 'malformed'],
    ['Connection naming our own fields', post('Connection: X-Turnpike-Pool'), 'malformed'],
    ['Connection naming the session', post('Connection: close, x-session-id'), 'malformed'],
    ['Connection naming a token of ours', post('Connection: X-Gatekeeper-Token'), 'malformed'],
    ['CONNECT with a length', head('CONNECT a:1 HTTP/1.1', 'Content-Length: 5'), 'malformed'],
    ['CONNECT with chunks', head('CONNECT a:1 HTTP/1.1', 'Transfer-Encoding: chunked'), 'malformed'],
  ])('%s', (_, text, verdict) => {
    expect(verdictOn(text)).toBe(verdict);
  });
});

describe('what llhttp stops', () => {
  it.each([
    ['CL then TE (H01)', post('Content-Length: 5', 'Transfer-Encoding: chunked')],
    ['TE then CL (H01)', post('transfer-encoding: CHUNKED', 'content-length: 5')],
    ['a repeated Content-Length', post('Content-Length: 5', 'Content-Length: 5')],
    ['differing Content-Lengths (H02)', post('Content-Length: 5', 'Content-Length: 6')],
    ['a listed Content-Length (H02)', post('Content-Length: 5, 5')],
    ['+5 (H02)', post('Content-Length: +5')],
    ['-0 (H02)', post('Content-Length: -0')],
    ['0x5 (H02)', post('Content-Length: 0x5')],
    ['5 5 (H02)', post('Content-Length: 5 5')],
    ['an empty Content-Length', post('Content-Length:')],
    ['an overflowing Content-Length', post('Content-Length: 18446744073709551617')],
    ['2^53', post('Content-Length: 9007199254740992')],
    ['digits beyond ASCII', post('Content-Length: 5\xb2')],
    ['a blank before the colon (H07)', post('Content-Length : 5')],
    ['a tab before the colon', post('Transfer-Encoding\t: chunked')],
    ['a name with a blank (H09)', post('User Agent: x')],
    ['an LF line end', post('X: y').replace('y\r\n', 'y\n')],
    ['an LF inside a value', post('X: y\nTransfer-Encoding: chunked')],
    ['a bare CR inside a value', post('X: y\rZ: z')],
    ['CR CR LF', post('X: y\r')],
    ['a bare CR as a line', post('\r')],
    ['a NUL in a value (H09)', post('X: \0')],
    ['a NUL in a name', post('X\0: y')],
    ['a folded line', post('X: y', ' z')],
    ['a folded Transfer-Encoding', post('Transfer-Encoding:', ' chunked')],
    ['a blank line that is none', post(' ', 'X: y')],
    ['a fold before the first field', head('GET / HTTP/1.1', ' Host: a')],
    ['no colon', post('nonsense')],
    ['no name', post(': x')],
    ['a vertical tab before chunked', post('Transfer-Encoding: \x0bchunked')],
    ['a no-break space before chunked', post('Transfer-Encoding: \xa0chunked')],
    ['quoted chunked', post('Transfer-Encoding: "chunked"')],
    ['chunked twice', post('Transfer-Encoding: chunked, chunked')],
    ['chunked in two lines', post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
    ['chunked not last', post('Transfer-Encoding: chunked, gzip')],
    ['identity alone', post('Transfer-Encoding: identity')],
    ['xchunked', post('Transfer-Encoding: xchunked')],
    ['chunked with a parameter', post('Transfer-Encoding: chunked;q=1')],
    ['an empty member', post('Transfer-Encoding: ,chunked')],
    ['an empty Transfer-Encoding', post('Transfer-Encoding:')],
    ['a bad method', head('G{T / HTTP/1.1', 'Host: a')],
  ])('%s', (_, text) => {
    expect(verdictOn(text)).toBe('malformed');
  });

  it.each([
    ['a sign', '+5\r\nhello\r\n'],
    ['a minus', '-1\r\nx\r\n'],
    ['0x', '0x5\r\nhello\r\n'],
    ['no size', '\r\nhello'],
    ['a blank before the size', ' 5\r\nhello\r\n'],
    ['a blank after the size (H05)', '5 \r\nhello\r\n'],
    ['a tab after the size', '5\t\r\nhello\r\n'],
    ['letters', 'g\r\n'],
    ['an underscore', '1_0\r\n'],
    ['seventeen digits', '00000000000000005\r\nhello\r\n'],
    ['an overflow', 'ffffffffffffffff\r\n'],
    ['an LF after the size', '5\nhello\r\n'],
    ['a CR and no LF after the size', '5\rhello'],
    ['an LF in an extension', '5;a\nb\r\nhello\r\n'],
    ['a CR in an extension', '5;a\rb\r\nhello\r\n'],
    ['a NUL in an extension', '5;\0\r\nhello\r\n'],
    ['no line end after the data', '5\r\nhelloX'],
    ['an LF after the data', '5\r\nhello\n0\r\n\r\n'],
    ['a CR and no LF after the data', '5\r\nhello\rX'],
    ['Content-Length in the trailers', '0\r\nContent-Length: 5\r\n\r\n'],
    ['Transfer-Encoding in the trailers', '0\r\ntransfer-encoding: chunked\r\n\r\n'],
    ['an LF line end in the trailers', '0\r\nX: y\n\r\n'],
    ['an LF for the blank line', '0\r\n\n'],
    ['a folded trailer', '0\r\nX: y\r\n z\r\n\r\n'],
    ['no colon in a trailer', '0\r\nnonsense\r\n\r\n'],
  ])('in a chunked body: %s', (_, text) => {
    expect(chunkedOf(text)).toMatchObject({ kind: 'fault', fault: 'malformed' });
    expect(readBody({ kind: 'chunked' }, byteByByte(bytesOf(text)))).toMatchObject({
      kind: 'fault',
      fault: 'malformed',
    });
  });
});

describe('what stays legal', () => {
  it.each([
    ['a body with a length', post('Content-Length: 5')],
    ['an empty body', post('Content-Length: 0')],
    ['the largest length', post('Content-Length: 9007199254740991')],
    ['chunked of any case', post('transfer-encoding: \t cHuNkEd ')],
    ['no body', post()],
    ['1.0 without Host', head('GET / HTTP/1.0')],
    ['CONNECT without Host', head('CONNECT a.test:443 HTTP/1.1')],
    ['CONNECT with a length of 0', head('CONNECT a.test:443 HTTP/1.1', 'Content-Length: 0')],
    ['an upgrade (H38)', post('Connection: Upgrade, HTTP2-Settings', 'Upgrade: websocket')],
    ['Connection naming anything else (H27)', post('Connection: close, X-Secret, TE, cookie,,')],
  ])('%s', (_, text) => {
    expect(verdictOn(text)).toBe('ok');
  });
});
