import { describe, expect, it } from 'vitest';
import { responseFraming } from '../../src/http1/framing.js';
import { bodyTolerances, tolerances } from '../../src/http1/tolerances.js';
import { byteByByte, bytesOf, goodResponse, head, readResponse, responseOf } from './drive.js';

const ok = 'HTTP/1.1 200 OK';
type Row = [name: string, text: string, line: string, pairs: [string, string][], tolerated: string[]];

const taken: Row[] = [
  ['nothing odd', head(ok, 'A: b'), '1.1 200 OK', [['A', 'b']], []],
  [
    'repeated equal Content-Length (H04)',
    head(ok, 'content-length: 5', 'A: b', 'Content-Length: 5'),
    '1.1 200 OK',
    [
      ['content-length', '5'],
      ['A', 'b'],
    ],
    ['repeated_length'],
  ],
  [
    'a listed one',
    head(ok, 'Content-Length: 5,5'),
    '1.1 200 OK',
    [['Content-Length', '5']],
    ['repeated_length'],
  ],
  [
    'leading zeros',
    head(ok, 'Content-Length: 0050'),
    '1.1 200 OK',
    [['Content-Length', '50']],
    ['padded_length'],
  ],
  [
    'leading zeros in one of two',
    head(ok, 'Content-Length: 00', 'Content-Length: 0'),
    '1.1 200 OK',
    [['Content-Length', '0']],
    ['repeated_length', 'padded_length'],
  ],
  [
    'folded lines',
    head(ok, 'A: b', ' c', '\t\td ', 'E:', '  f', 'G: h', ' '),
    '1.1 200 OK',
    [
      ['A', 'b c d'],
      ['E', 'f'],
      ['G', 'h'],
    ],
    ['folded_line'],
  ],
  ['a fold before the first field', head(ok, ' A: b', 'C: d'), '1.1 200 OK', [['C', 'd']], ['bad_line']],
  [
    'blanks before the colon (H07)',
    head(ok, 'Content-Length : 5', 'A \t: b'),
    '1.1 200 OK',
    [
      ['Content-Length', '5'],
      ['A', 'b'],
    ],
    ['blank_before_colon'],
  ],
  [
    'bad names (H08, H09)',
    head(ok, 'Served with care : yes', 'status code', ': x', 'A\x01: b', 'Ü: b', '\x0b', 'C: d'),
    '1.1 200 OK',
    [['C', 'd']],
    ['bad_line'],
  ],
  ['a bad name with a continuation', head(ok, 'status code', ' A: b'), '1.1 200 OK', [], ['bad_line']],
  [
    'a control byte in a value (H08)',
    head(ok, 'A: \x01', 'B: b\rSet-Cookie: x', 'C: \0', 'D: d'),
    '1.1 200 OK',
    [['D', 'd']],
    ['control_byte'],
  ],
  [
    'a control byte in a continuation, and what continues it',
    head(ok, 'A: b', ' \x01', ' c', 'D: d'),
    '1.1 200 OK',
    [['D', 'd']],
    ['folded_line', 'control_byte', 'bad_line'],
  ],
  ['LF line ends (H08)', 'HTTP/1.1 200 OK\nA: b\n\n', '1.1 200 OK', [['A', 'b']], ['lf_line_end']],
  ['mixed line ends', 'HTTP/1.1 200 OK\r\nA: b\n\r\n', '1.1 200 OK', [['A', 'b']], ['lf_line_end']],
  ['Latin-1 in the reason (H08)', head('HTTP/1.1 200 Sch\xf6n'), '1.1 200 Sch\xf6n', [], []],
  ['a control byte in the reason', head('HTTP/1.1 200 O\x1bK'), '1.1 200 ', [], ['control_byte']],
  ['999 (H11)', head('HTTP/1.1 999 Request denied'), '1.1 999 Request denied', [], ['odd_status']],
  ['600', head('HTTP/1.1 600 x'), '1.1 600 x', [], ['odd_status']],
  ['599', head('HTTP/1.1 599 x'), '1.1 599 x', [], []],
  ['100', head('HTTP/1.1 100 Continue'), '1.1 100 Continue', [], []],
  ['no reason', head('HTTP/1.1 200 '), '1.1 200 ', [], []],
  ['no reason and no space', head('HTTP/1.1 200'), '1.1 200 ', [], ['missing_reason']],
  ['an empty line before', `\r\n${head(ok, 'A: b')}`, '1.1 200 OK', [['A', 'b']], ['empty_line_before']],
  ['line ends before', `\n\r\n\n${head(ok)}`, '1.1 200 OK', [], ['empty_line_before']],
  ['HTTP/1.0', head('HTTP/1.0 200 OK'), '1.0 200 OK', [], []],
  ['HTTP/1.2', head('HTTP/1.2 200 OK'), '1.1 200 OK', [], ['later_minor_version']],
  ['HTTP/1.9', head('HTTP/1.9 200 OK'), '1.1 200 OK', [], ['later_minor_version']],
];

describe('answers that are taken', () => {
  it.each(taken)('%s', (...row) => {
    const [, text, line, pairs, tolerated] = row;
    const expected = { kind: 'head', line, pairs, tolerated, rest: 'body\r\n\r\n' };
    const bytes = bytesOf(`${text}body\r\n\r\n`);
    expect(readResponse([Buffer.from(bytes)])).toEqual(expected);
    expect(readResponse(byteByByte(bytes))).toEqual(expected);
  });

  it('keep several Set-Cookie lines apart (H12)', () => {
    const cookies = ['a=1', 'b=2; Expires=Wed, 01 Jan 2031 00:00:00 GMT', 'c=3'];
    const answer = goodResponse(head(ok, ...cookies.map((cookie) => `Set-Cookie: ${cookie}`)));
    expect(answer.fields.all('set-cookie')).toEqual(cookies);
  });

  it('use every row of the table', () => {
    const used = new Set(taken.flatMap((row) => row[4]));
    expect([...used].sort()).toEqual(Object.keys(tolerances).sort());
  });

  it('every row says what and why', () => {
    for (const row of [...Object.values(tolerances), ...Object.values(bodyTolerances)]) {
      expect(row.what).toMatch(/\.$/);
      expect(row.why).toMatch(/\.$/);
    }
  });
});

describe('answers that are refused', () => {
  it.each([
    ['garbage (H10)', 'x'.repeat(20)],
    ['three empty lines', '\r\n\r\n\r\n'],
    ['blanks before', `  ${head(ok)}`],
    ['ICY 200', head('ICY 200 OK')],
    ['status 0 (H10)', head('HTTP/1.0 0')],
    ['status 099', head('HTTP/1.1 099 x')],
    ['status 1000 (H10)', head('HTTP/1.1 1000 x')],
    ['status abc (H10)', head('HTTP/1.1 abc')],
    ['a status that runs into its reason', head('HTTP/1.1 200OK')],
    ['a short status', head('HTTP/1.1 20')],
    ['no status (H10)', head('HTTP/1.1')],
    ['two spaces', head('HTTP/1.1  200 OK')],
    ['lower case', head('http/1.1 200 OK')],
    ['another minor version', head('HTTP/1.x 200 OK')],
    ['a control byte in Content-Length', head(ok, 'Content-Length: 5\x01')],
    ['a control byte in a folded Transfer-Encoding', head(ok, 'Transfer-Encoding: chunked', ' \x01')],
    ['no dot in the version', head('HTTP/2 200 OK')],
    ['TLS', '\x15\x03\x01\x00\x02\x02\x46'],
  ])('%s', (_, text) => {
    expect(responseOf(text)).toEqual({ kind: 'fault', fault: 'malformed' });
    expect(readResponse(byteByByte(bytesOf(text)))).toEqual({ kind: 'fault', fault: 'malformed' });
  });

  it('HTTP/2.0 as unsupported', () => {
    expect(responseOf(head('HTTP/2.0 200 OK')).fault).toBe('unsupported_version');
  });

  it.each([
    ['CL with TE (H01)', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['differing Content-Lengths (H02)', ['Content-Length: 5', 'Content-Length: 6']],
    ['5,6 (H02)', ['Content-Length: 5,6']],
    ['+5 (H02)', ['Content-Length: +5']],
    ['-0 (H02)', ['Content-Length: -0']],
    ['0x5 (H02)', ['Content-Length: 0x5']],
    ['5 5 (H02)', ['Content-Length: 5 5']],
    ['a folded number', ['Content-Length: 5', ' 5']],
    ['nothing', ['Content-Length:']],
    ['an overflow', ['Content-Length: 99999999999999999']],
  ])('for their framing: %s', (_, fields) => {
    const framing = responseFraming(goodResponse(head(ok, ...fields)), 'GET');
    expect(framing).toMatchObject({ kind: 'fault', fault: { kind: 'malformed' } });
  });
});
