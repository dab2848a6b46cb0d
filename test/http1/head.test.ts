import { describe, expect, it } from 'vitest';
import { Fields } from '../../src/http1/fields.js';
import {
  RequestHeadReader,
  ResponseHeadReader,
  hostFieldOf,
  serializeRequestHead,
  serializeResponseHead,
} from '../../src/http1/head.js';
import {
  byteByByte,
  bytesOf,
  cutAt,
  goodRequest,
  head,
  limits,
  readRequest,
  readResponse,
  requestOf,
  responseOf,
} from './drive.js';

const page = 'http://a.test/p?q=1';

describe('requests that are taken', () => {
  it('keeps order, case and repeated lines of fields (H13, H14)', () => {
    const text = head(
      `GET ${page} HTTP/1.1`,
      'hOsT: a.test',
      'X-A: 1',
      'accept: */*',
      'X-a: 2',
      'Link: <x>',
      'Link: <y>',
    );
    expect(requestOf(text)).toEqual({
      kind: 'head',
      line: `GET ${page} 1.1`,
      pairs: [
        ['hOsT', 'a.test'],
        ['X-A', '1'],
        ['accept', '*/*'],
        ['X-a', '2'],
        ['Link', '<x>'],
        ['Link', '<y>'],
      ],
      rest: '',
    });
  });

  it('hands back the bytes after the head as a view of the chunk (C01)', () => {
    const chunk = bytesOf(`${head('CONNECT a.test:443 HTTP/1.1')}hello`);
    const step = new RequestHeadReader(limits).push(chunk);
    if (step.kind !== 'head') throw new Error(step.kind);
    expect(step.rest.toString()).toBe('hello');
    expect(step.rest.buffer).toBe(chunk.buffer);
  });

  it.each([
    ['a method of lower case', 'get / HTTP/1.1'],
    ['a method that nobody registered', "M-SEARCH!#$%&'*+-.^_`|~09 / HTTP/1.1"],
    ['an asterisk', 'OPTIONS * HTTP/1.1'],
    ['bytes of 0x80 and more in the target', 'GET /\xe4\xff HTTP/1.1'],
    ['odd but printable bytes in the target', 'GET /<>"{}|\\^` HTTP/1.1'],
  ])('takes %s as it came', (_, line) => {
    const got = requestOf(head(line, 'Host: a.test'));
    expect(got.line).toBe(line.replace(' HTTP/', ' '));
  });

  it.each(['value', '  value', '\tvalue\t ', '\t \tvalue'])('strips the blanks round %j', (raw) => {
    expect(requestOf(head('GET / HTTP/1.0', `X:${raw}`)).pairs).toEqual([['X', 'value']]);
  });

  it('keeps blanks inside a value, empty values and bytes of 0x80 and more', () => {
    const got = requestOf(head('GET / HTTP/1.0', 'A: b \t c', 'E:', 'F: \t', 'L: \x80\xa0\xff'));
    expect(got.pairs).toEqual([
      ['A', 'b \t c'],
      ['E', ''],
      ['F', ''],
      ['L', '\x80\xa0\xff'],
    ]);
  });

  it('skips a few empty lines before a request, in one piece or in many', () => {
    const text = `\r\n\r\n${head('GET / HTTP/1.1', 'Host: a')}`;
    expect(requestOf(text).kind).toBe('head');
    expect(readRequest(byteByByte(bytesOf(text))).kind).toBe('head');
  });

  it('reads pipelined requests one after the other', () => {
    const reader = new RequestHeadReader(limits);
    const first = reader.push(
      bytesOf(head('GET /1 HTTP/1.1', 'Host: a') + head('GET /2 HTTP/1.1', 'Host: b')),
    );
    if (first.kind !== 'head') throw new Error(first.kind);
    expect(reader.started).toBe(false);
    const second = reader.push(first.rest);
    if (second.kind !== 'head') throw new Error(second.kind);
    expect([first.head.target, second.head.target]).toEqual(['/1', '/2']);
    expect(hostFieldOf(second.head)).toBe('b');
    expect(second.rest).toHaveLength(0);
  });

  it('counts empty lines for each request anew', () => {
    const reader = new RequestHeadReader(limits);
    for (let i = 0; i < 5; i++) {
      expect(reader.push(bytesOf(`\r\n\r\n${head('GET / HTTP/1.1', 'Host: a')}`)).kind).toBe('head');
    }
  });

  it('takes a head of exactly the limits', () => {
    const text = head('GET / HTTP/1.1', 'Host: a', 'B: c');
    const exact = { headBytes: text.length, fieldCount: 2 };
    expect(readRequest([bytesOf(text)], exact).kind).toBe('head');
    expect(readRequest(byteByByte(bytesOf(text)), exact).kind).toBe('head');
  });
});

describe('a head in pieces', () => {
  const request = head('POST /x HTTP/1.1', 'Host: a.test', 'Content-Length: 3', 'X-Long: ' + 'v'.repeat(400));
  const response = head('HTTP/1.1 200 OK', 'Set-Cookie: a', 'Set-Cookie: b', 'X : y', ' folded');

  it('is the same wherever it is cut (C02)', () => {
    const bytes = bytesOf(`${request}abc`);
    const whole = readRequest([Buffer.from(bytes)]);
    expect(whole.kind).toBe('head');
    for (let at = 1; at < bytes.length; at++) expect(readRequest(cutAt(bytes, [at]))).toEqual(whole);
    expect(readRequest(byteByByte(bytes))).toEqual(whole);
  });

  it('is the same wherever it is cut, for answers (C02, C03)', () => {
    const bytes = bytesOf(`${response}220 hi`);
    const whole = readResponse([Buffer.from(bytes)]);
    expect(whole).toMatchObject({ kind: 'head', rest: '220 hi' });
    for (let at = 1; at < bytes.length; at++) expect(readResponse(cutAt(bytes, [at]))).toEqual(whole);
    expect(readResponse(byteByByte(bytes))).toEqual(whole);
  });

  it('has started with its first byte, not with an empty line before it', () => {
    const reader = new RequestHeadReader(limits);
    expect(reader.started).toBe(false);
    reader.push(Buffer.alloc(0));
    reader.push(bytesOf('\r\n\r'));
    expect(reader.started).toBe(false);
    reader.push(bytesOf('\nG'));
    expect(reader.started).toBe(true);
    reader.reset();
    expect(reader.started).toBe(false);
    expect(reader.push(bytesOf(head('GET / HTTP/1.1', 'Host: a'))).kind).toBe('head');
  });

  it('answers with the same fault until it is reset', () => {
    const reader = new ResponseHeadReader(limits);
    expect(reader.push(bytesOf('nonsense')).kind).toBe('fault');
    expect(reader.push(bytesOf(head('HTTP/1.1 200 OK'))).kind).toBe('fault');
    expect(reader.started).toBe(true);
    reader.reset();
    expect(reader.push(bytesOf(head('HTTP/1.1 200 OK'))).kind).toBe('head');
  });

  it('costs linear work when it comes byte after byte', () => {
    const big = { headBytes: 4_000_000, fieldCount: 10 };
    const bytes = bytesOf(head('GET / HTTP/1.1', 'Host: a', `X: ${'v'.repeat(300_000)}`));
    const reader = new RequestHeadReader(big);
    let last = reader.push(bytes.subarray(0, 1));
    for (let at = 1; at < bytes.length; at++) last = reader.push(bytes.subarray(at, at + 1));
    expect(last.kind).toBe('head');
  }, 5_000);
});

describe('requests that are refused at once', () => {
  it('tells a TLS hello (C21)', () => {
    expect(requestOf('\x16\x03\x01\x02\x00')).toEqual({ kind: 'fault', fault: 'tls_hello' });
    expect(requestOf('\r\n\x16')).toEqual({ kind: 'fault', fault: 'tls_hello' });
  });

  it.each([
    ['a control byte', '\x00'],
    ['a SOCKS greeting', '\x05\x01\x00'],
    ['a byte of 0x80', '\x80'],
    ['a space', ' GET'],
    ['a colon', 'Host:'],
    ['an endless method', 'A'.repeat(65)],
    ['a control byte in the target', 'GET /\x01'],
    ['a tab for a space', 'GET\t/'],
    ['DEL in the target', 'GET /\x7f'],
    ['a second space', 'GET  '],
    ['a fragment', 'GET /#'],
    ['a fragment and nothing before it', 'GET #'],
    ['a CR in the target', 'GET /\r'],
    ['another protocol', 'GET / HTTQ'],
    ['lower case', 'GET / h'],
    ['no dot', 'GET / HTTP/1,'],
    ['a letter in the version', 'GET / HTTP/1.x'],
    ['a long version', 'GET / HTTP/1.10'],
    ['a space after the version', 'GET / HTTP/1.1 '],
    ['a CR and no LF after the version', 'GET / HTTP/1.1\rX'],
    ['a CR before the request', '\rGET'],
    ['an LF before the request', '\nGET'],
    ['too many empty lines', '\r\n\r\n\r\n\r\n\r\n'],
    ['an LF line end', 'GET / HTTP/1.1\n'],
    ['an LF line end in the fields', 'GET / HTTP/1.1\r\nHost: a\n'],
    ['a control byte in a field', 'GET / HTTP/1.1\r\nHost: a\x00\r\n'],
  ])('%s: without waiting for the blank line, in one piece or in many (C21)', (_, text) => {
    expect(requestOf(text)).toEqual({ kind: 'fault', fault: 'malformed' });
    expect(readRequest(byteByByte(bytesOf(text)))).toEqual({ kind: 'fault', fault: 'malformed' });
  });

  it.each(['HTTP/2.0', 'HTTP/1.2', 'HTTP/0.9', 'HTTP/3.1', 'HTTP/9.9'])('%s as unsupported', (version) => {
    const text = `PRI * ${version}\r\n`;
    expect(requestOf(text)).toEqual({ kind: 'fault', fault: 'unsupported_version' });
    expect(readRequest(byteByByte(bytesOf(text)))).toEqual({ kind: 'fault', fault: 'unsupported_version' });
  });
});

it('refuses an endless method in a whole head too', () => {
  expect(requestOf(head(`${'A'.repeat(64)} / HTTP/1.1`, 'Host: a')).kind).toBe('head');
  expect(requestOf(head(`${'A'.repeat(65)} / HTTP/1.1`, 'Host: a')).fault).toBe('malformed');
});

describe('limits (H36, H37)', () => {
  const small = { headBytes: 100, fieldCount: 3 };

  it.each([
    ['one byte too many', head('GET / HTTP/1.1', 'Host: a', `X: ${'v'.repeat(69)}`)],
    ['no blank line', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'v'.repeat(80)}`],
    ['a target without end', `GET /${'a'.repeat(200)}`],
    ['too many fields', head('GET / HTTP/1.1', 'Host: a', 'A: a', 'B: b', 'C: c')],
    ['too many fields and no blank line', 'GET / HTTP/1.1\r\nA: a\r\nB: b\r\nC: c\r\nD: d\r\n'],
  ])('%s: too large, in one piece or in many', (_, text) => {
    expect(readRequest([bytesOf(text)], small)).toEqual({ kind: 'fault', fault: 'too_large' });
    expect(readRequest(byteByByte(bytesOf(text)), small)).toEqual({ kind: 'fault', fault: 'too_large' });
  });

  it('hold for answers, dropped lines counted', () => {
    const many = head('HTTP/1.1 200 OK', 'bad', 'bad', 'bad', 'bad');
    expect(readResponse([bytesOf(many)], small).fault).toBe('too_large');
    const long = `HTTP/1.1 200 OK\r\n${'X: yyyyyy\r\n'.repeat(3)}${'Z'.repeat(100)}`;
    expect(readResponse([bytesOf(long)], small).fault).toBe('too_large');
    expect(readResponse(byteByByte(bytesOf(long)), small).fault).toBe('too_large');
  });

  it('take 20 KB of request and 40 KB of answer (H36)', () => {
    expect(requestOf(head('GET / HTTP/1.1', 'Host: a', `Cookie: ${'c'.repeat(20_000)}`)).kind).toBe('head');
    expect(responseOf(head('HTTP/1.1 200 OK', `Set-Cookie: ${'c'.repeat(40_000)}`)).kind).toBe('head');
  });

  it('leave what comes behind the head out of the count', () => {
    const text = head('GET / HTTP/1.1', 'Host: a');
    expect(readRequest([bytesOf(text + 'b'.repeat(500))], small).rest).toHaveLength(500);
    const pieces = [bytesOf(text.slice(0, 20)), bytesOf(text.slice(20) + 'b'.repeat(500))];
    expect(readRequest(pieces, small).rest).toHaveLength(500);
  });

  it('never show a value in a detail', () => {
    const step = new RequestHeadReader(limits).push(
      bytesOf(head('GET / HTTP/1.1', 'Host: a', 'Cookie: s3cret\x01')),
    );
    expect(JSON.stringify(step)).not.toContain('s3cret');
  });
});

describe('writing', () => {
  it('writes what it read', () => {
    const text = head('GET /p HTTP/1.1', 'Host: a.test', 'x: ', 'X: \xe4');
    expect(serializeRequestHead(goodRequest(text))).toBe(text);
  });

  it('writes a response in 1.1, or as told, with an empty reason too', () => {
    const fields = Fields.of(['A', 'b']);
    expect(serializeResponseHead({ status: 999, reason: 'Request denied', fields })).toBe(
      'HTTP/1.1 999 Request denied\r\nA: b\r\n\r\n',
    );
    expect(serializeResponseHead({ status: 200, reason: '', minor: 0, fields: Fields.empty() })).toBe(
      'HTTP/1.0 200 \r\n\r\n',
    );
  });

  it('lets no part break out of its line', () => {
    const fields = Fields.of(['A', 'b\r\nEvil: 1'], ['B', 'ĊEvil']);
    fields.set('A', 'c\nEvil: 2\0');
    const request = serializeRequestHead({ method: 'GET', target: '/a b\r\nEvil: Ċ#', minor: 1, fields });
    expect(request).toBe('GET /a%20b%0D%0AEvil:%20%C4%8A%23 HTTP/1.1\r\nA: c Evil: 2 \r\nB:  Evil\r\n\r\n');
    const response = serializeResponseHead({ status: 200, reason: 'x\r\nEvil: 1', fields: Fields.empty() });
    expect(response).toBe('HTTP/1.1 200 x  Evil: 1\r\n\r\n');
  });

  it('throws for a method that is none', () => {
    const send = () =>
      serializeRequestHead({ method: 'GET /\r\n', target: '/', minor: 1, fields: Fields.empty() });
    expect(send).toThrow(TypeError);
  });
});
