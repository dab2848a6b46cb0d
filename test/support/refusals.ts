/**
 * What a client may send that two servers could read in two ways, or that no forward proxy should serve: each with the
 * answer that it gets. Whole requests as bytes.
 */

/** One row: what is wrong, the request, the status, and the code where it isn't `bad_request`. */
export interface Refusal {
  readonly what: string;
  readonly bytes: string;
  readonly status: 400 | 403 | 431 | 501;
  readonly code: string;
  /** Whether there is no doubt about where it ends, so that what comes behind it is served. */
  readonly isKept: boolean;
}

const line = (first: string, ...fields: string[]): string => `${[first, ...fields].join('\r\n')}\r\n\r\n`;
const get = (...fields: string[]): string => line('GET http://a.test/ HTTP/1.1', 'Host: a.test', ...fields);
const post = (...fields: string[]): string => line('POST http://a.test/ HTTP/1.1', 'Host: a.test', ...fields);
const to = (target: string): string => line(`GET ${target} HTTP/1.1`, 'Host: a.test');
const chunks = (body: string): string => `${post('Transfer-Encoding: chunked')}${body}`;
const connect = (target: string, ...fields: string[]): string =>
  line(`CONNECT ${target} HTTP/1.1`, 'Host: a.test:443', ...fields);

type Row = readonly [what: string, bytes: string, status?: Refusal['status'], code?: string];

const startLines: readonly Row[] = [
  ['HTTP/2.0', line('GET http://a.test/ HTTP/2.0', 'Host: a.test')],
  ['HTTP/1.2', line('GET http://a.test/ HTTP/1.2', 'Host: a.test')],
  ['HTTP/0.9', line('GET http://a.test/ HTTP/0.9', 'Host: a.test')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['no version', line('GET http://a.test/', 'Host: a.test')],
  ['a version in small letters', line('GET http://a.test/ http/1.1', 'Host: a.test')],
  ['a version of three numbers', line('GET http://a.test/ HTTP/1.1.1', 'Host: a.test')],
  ['a version with a sign', line('GET http://a.test/ HTTP/+1.1', 'Host: a.test')],
  ['a blank behind the version', line('GET http://a.test/ HTTP/1.1 ', 'Host: a.test')],
  ['two blanks before the target', line('GET  http://a.test/ HTTP/1.1', 'Host: a.test')],
  ['two blanks behind the target', line('GET http://a.test/  HTTP/1.1', 'Host: a.test')],
  ['a tab before the target', line('GET\thttp://a.test/ HTTP/1.1', 'Host: a.test')],
  ['a blank in the target', line('GET http://a.test/a b HTTP/1.1', 'Host: a.test')],
  ['a blank before the method', line(' GET http://a.test/ HTTP/1.1', 'Host: a.test')],
  ['a method that is no token', line('G{T http://a.test/ HTTP/1.1', 'Host: a.test')],
  ['a method of 65 letters', line(`${'M'.repeat(65)} http://a.test/ HTTP/1.1`, 'Host: a.test')],
  ['a fragment', to('http://a.test/#f')],
  ['CR in the target', to('http://a.test/\rX: y')],
  ['NUL in the target', to('http://a.test/\0')],
  ['a control byte in the target', to('http://a.test/\x7f')],
  ['LF as the end of the line', get().replace('HTTP/1.1\r\n', 'HTTP/1.1\n')],
  ['TRACE', line('TRACE http://a.test/ HTTP/1.1', 'Host: a.test'), 501, 'not_implemented'],
  ['trace', line('trace http://a.test/ HTTP/1.1', 'Host: a.test'), 501, 'not_implemented'],
  ['connect in small letters', line('connect a.test:443 HTTP/1.1', 'Host: a.test')],
];

const targets: readonly Row[] = [
  ['origin-form', to('/path')],
  ['an asterisk', line('OPTIONS * HTTP/1.1', 'Host: a.test')],
  ['authority-form without CONNECT', to('a.test:80')],
  ['userinfo', to('http://u:p@a.test/')],
  ['a user', to('http://u@a.test/')],
  ['userinfo before a port', to('http://a.test:80@b.test/')],
  ['a backslash in the authority', to('http://a.test\\@b.test/')],
  ['no host', to('http:///path')],
  ['one slash', to('http:/a.test/')],
  ['https', to('https://a.test/')],
  ['another scheme', to('gopher://a.test/')],
  ['port 0', to('http://a.test:0/')],
  ['port 65536', to('http://a.test:65536/')],
  ['a port with a sign', to('http://a.test:+80/')],
  ['two ports', to('http://a.test:80:81/')],
  ['a percent in the host', to('http://%61.test/')],
  ['an empty label', to('http://a..test/')],
  ['an address that is none', to('http://1.2.3.4.5/')],
  ['a bracket left open', to('http://[::1/')],
  ['a zone id', to('http://[fe80::1%25eth0]/')],
  ['a loopback address', to('http://127.0.0.1/'), 403, 'target_refused'],
];

const fields: readonly Row[] = [
  ['no Host', line('GET http://a.test/ HTTP/1.1', 'X: y')],
  ['two Hosts', get('Host: a.test')],
  ['two Hosts of different case', get('hOST: b.test')],
  ['an empty Host', line('GET http://a.test/ HTTP/1.1', 'Host:')],
  ['a Host with a path', line('GET http://a.test/ HTTP/1.1', 'Host: a.test/x')],
  ['a Host with userinfo', line('GET http://a.test/ HTTP/1.1', 'Host: u@a.test')],
  ['a Host list', line('GET http://a.test/ HTTP/1.1', 'Host: a.test, b.test')],
  ['a blank before the colon', get('X : y')],
  ['a tab before the colon', get('X\t: y')],
  ['a name with a blank', get('X Y: z')],
  ['no name', get(': y')],
  ['no colon', get('nonsense')],
  ['a folded line', get('X: y', ' z')],
  ['a fold before the first field', line('GET http://a.test/ HTTP/1.1', ' X: y', 'Host: a.test')],
  ['LF alone', get('X: y\nZ: z')],
  ['CR alone', get('X: y\rZ: z')],
  ['CR CR LF', get('X: y\r')],
  ['NUL in a value', get('X: \0')],
  ['a control byte in a name', get('X\x01: y')],
  ['a byte beyond ASCII in a name', get('X\xff: y')],
  ['Connection naming Content-Length', post('Connection: Content-Length', 'Content-Length: 0')],
  ['Connection naming Host', get('Connection: close, host')],
  ['Connection naming Transfer-Encoding', get('Connection: transfer-encoding')],
  ['Connection naming the login', get('Connection: Proxy-Authorization')],
  ['Connection naming the session', get('Connection: X-Session-Id')],
  ['Connection naming a field of ours', get('Connection: X-Turnpike-Pool')],
  ['two logins', get('Proxy-Authorization: Basic YTpi', 'Proxy-Authorization: Basic YTpi')],
  ['two sessions', get('X-Session-Id: a', 'X-Session-Id: b')],
  [
    'more than 256 fields',
    get(...Array.from({ length: 256 }, (_, n) => `X-${n}: y`)),
    431,
    'header_too_large',
  ],
  ['a field of 64 KiB', get(`X: ${'y'.repeat(65_536)}`), 431, 'header_too_large'],
];

const framing: readonly Row[] = [
  ['a length, then chunks', `${post('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
  ['chunks, then a length', `${post('Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`],
  ['two lengths', `${post('Content-Length: 5', 'Content-Length: 5')}hello`],
  ['two lengths that differ', `${post('Content-Length: 5', 'Content-Length: 6')}hello`],
  ...[
    '5, 5',
    '+5',
    '-0',
    '0x5',
    '5 5',
    '1e1',
    '',
    '0005',
    '5;',
    '18446744073709551617',
    '9007199254740992',
    '\x0b5',
  ].map((length): Row => [
    `a length of ${JSON.stringify(length)}`,
    `${post(`Content-Length: ${length}`)}hello`,
  ]),
  ['gzip, chunked', `${post('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`, 501, 'not_implemented'],
  ['identity, chunked', `${post('Transfer-Encoding: identity, chunked')}0\r\n\r\n`, 501, 'not_implemented'],
  ...[
    'identity',
    'xchunked',
    '"chunked"',
    '\x0bchunked',
    '\xa0chunked',
    'chunked, chunked',
    'chunked, gzip',
    'chunked;q=1',
    ',chunked',
    '',
  ].map((coding): Row => [
    `a coding of ${JSON.stringify(coding)}`,
    `${post(`Transfer-Encoding: ${coding}`)}0\r\n\r\n`,
  ]),
  ['chunked in two lines', `${post('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
  ['chunks in HTTP/1.0', `${line('POST http://a.test/ HTTP/1.0', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
  ...[
    '+5\r\nhello\r\n',
    '0x5\r\nhello\r\n',
    '5 \r\nhello\r\n',
    ' 5\r\nhello\r\n',
    '5\nhello\r\n',
    'g\r\n',
    '\r\n',
    '5;a\nb\r\nhello\r\n',
    '5\r\nhelloX',
  ].map((body): Row => [`a chunk ${JSON.stringify(body)}`, chunks(`${body}0\r\n\r\n`)]),
  ['a chunk of 2^64 bytes', chunks('ffffffffffffffff\r\nx')],
  ['a length in the trailers', chunks('0\r\nContent-Length: 5\r\n\r\n')],
  ['a folded trailer', chunks('0\r\nX: y\r\n z\r\n\r\n')],
];

const tunnels: readonly Row[] = [
  ...[
    'a.test',
    'a.test:',
    'a.test:0',
    'a.test:65536',
    'a.test:4x3',
    ':443',
    'http://a.test:443',
    'a.test:443/path',
    'u:p@a.test:443',
    'a.test:443#f',
    '/',
    '*',
  ].map((target): Row => [`CONNECT ${target}`, connect(target)]),
  ['CONNECT with a length', `${connect('a.test:443', 'Content-Length: 5')}hello`],
  ['CONNECT with chunks', `${connect('a.test:443', 'Transfer-Encoding: chunked')}0\r\n\r\n`],
  ['CONNECT with two Hosts', connect('a.test:443', 'Host: b.test')],
  ['CONNECT to a loopback address', connect('127.0.0.1:443'), 403, 'target_refused'],
];

/** Wrong in what is asked, and not in where it ends: the connection goes on. */
const KEPT = new Set([
  ...targets.map(([what]) => what),
  'TRACE',
  'trace',
  'connect in small letters',
  'two logins',
  'two sessions',
]);

/** All rows. */
export const refusals: readonly Refusal[] = [startLines, targets, fields, framing, tunnels]
  .flat()
  .map(([what, bytes, status = 400, code = 'bad_request']) => ({
    ...{ what, bytes, status, code },
    isKept: KEPT.has(what),
  }));
