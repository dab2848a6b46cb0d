import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostFieldIsWellFormed, parseAbsoluteForm, parseAuthority } from '../../src/protocol/target.js';
import type { Target, TargetResult } from '../../src/protocol/target.js';

const bytes = (unicode: string): string => Buffer.from(unicode, 'utf8').toString('latin1');

function targetOf(result: TargetResult): Target {
  if (result.kind === 'refused') throw new Error(result.failure.detail);
  return result.target;
}

function detailOf(result: TargetResult): string {
  if (result.kind === 'target') throw new Error(`not refused: ${result.target.hostPort}`);
  expect(result.failure.code).toBe('bad_request');
  return result.failure.detail;
}

describe('absolute-form', () => {
  it('is taken apart', () => {
    expect(targetOf(parseAbsoluteForm('http://www.A.example:8080/p/a?q=%7B'))).toEqual({
      scheme: 'http',
      host: 'www.a.example',
      port: 8080,
      authority: 'www.a.example:8080',
      hostPort: 'www.a.example:8080',
      addressClass: 'name',
      site: 'a.example',
      path: '/p/a?q=%7B',
      isBare: false,
    });
  });

  it.each([
    ['http://a.test', true],
    ['http://a.test:81', true],
    ['ws://a.test', true],
    ['http://a.test/', false],
    ['http://a.test?', false],
    ['http://a.test/x', false],
  ])('%j is bare: %s', (text, isBare) => {
    expect(targetOf(parseAbsoluteForm(text)).isBare).toBe(isBare);
  });

  it.each([
    ['http://a.test', '/'],
    ['http://a.test/', '/'],
    ['http://a.test?x=1', '/?x=1'],
    ['http://a.test/?', '/?'],
    ['http://a.test//a//../b;c', '//a//../b;c'],
    ['http://a.test/@x:y', '/@x:y'],
    ['http://a.test/\\x', '/\\x'],
    ['http://a.test/\xc3\xbc\xff', '/\xc3\xbc\xff'],
    ['HTTP://a.test/X', '/X'],
  ])('%j has the path %j, as it came', (text, path) => {
    expect(targetOf(parseAbsoluteForm(text)).path).toBe(path);
  });

  it.each([
    ['http://a.test/', 'a.test', 'a.test:80'],
    ['http://a.test:80/', 'a.test', 'a.test:80'],
    ['http://a.test:443/', 'a.test:443', 'a.test:443'],
    ['http://[::1]/', '[::1]', '[::1]:80'],
    ['http://[::1]:81/', '[::1]:81', '[::1]:81'],
    ['http://münchen.de/', 'xn--mnchen-3ya.de', 'xn--mnchen-3ya.de:80'],
  ])('H31 %s has the authority %s', (text, authority, hostPort) => {
    expect(targetOf(parseAbsoluteForm(bytes(text)))).toMatchObject({ authority, hostPort });
  });

  it('reads ws:// the same way', () => {
    expect(targetOf(parseAbsoluteForm('ws://a.test'))).toMatchObject({ scheme: 'ws', port: 80, path: '/' });
    expect(targetOf(parseAbsoluteForm('WS://a.test:81/x'))).toMatchObject({
      scheme: 'ws',
      port: 81,
      path: '/x',
    });
    expect(targetOf(parseAbsoluteForm('http://a.test'))).toMatchObject({ scheme: 'http' });
  });

  it('H32 refuses a user name and never repeats it', () => {
    for (const text of [
      'http://bob:s3cret@a.test/x',
      'http://s3cret@a.test',
      'http://@a.test/',
      'http://a.test\\@s3cret/',
    ]) {
      expect(detailOf(parseAbsoluteForm(text))).toContain('user name');
      expect(detailOf(parseAbsoluteForm(text))).not.toContain('s3cret');
    }
    expect(detailOf(parseAbsoluteForm('https://bob:s3cret@a.test/x'))).not.toContain('s3cret');
  });

  it.each([
    ['https://a.test/', 'CONNECT'],
    ['wss://a.test/', 'CONNECT'],
    ['ftp://a.test/', 'http://'],
    ['/x', 'forward proxy'],
    ['*', 'forward proxy'],
    ['a.test:443', 'absolute form'],
    ['', 'absolute form'],
    ['http:/a.test/', 'absolute form'],
    ['http:a.test', 'absolute form'],
    ['://a.test', 'absolute form'],
    [`${'a'.repeat(40)}://a.test`, 'absolute form'],
    ['http://', 'host is empty'],
    ['http:///x', 'host is empty'],
    ['http://:80/', 'host is empty'],
    ['http://?x', 'host is empty'],
    ['http://a.test#f', 'fragment'],
    ['http://a.test/#f', 'fragment'],
    ['http://a.test/a b', 'blank'],
    ['http://a.test/\r\nX: y', 'control'],
    ['http://a.test/\0', 'control'],
    ['http://a.test/\x7f', 'control'],
    ['http://a.test\\.b.test/', 'character'],
    ['http://a,b.test/', 'character'],
  ])('%j is refused: %s', (text, why) => {
    expect(detailOf(parseAbsoluteForm(text))).toContain(why);
  });
});

describe('G3 authority-form', () => {
  it('is taken apart, with the port in its authority', () => {
    expect(targetOf(parseAuthority('A.example:443'))).toEqual({
      scheme: 'tunnel',
      host: 'a.example',
      port: 443,
      authority: 'a.example:443',
      hostPort: 'a.example:443',
      addressClass: 'name',
      site: 'a.example',
      path: '',
      isBare: false,
    });
    expect(targetOf(parseAuthority('[2001:DB8::1]:22'))).toMatchObject({
      host: '2001:db8::1',
      authority: '[2001:db8::1]:22',
    });
    expect(targetOf(parseAuthority('a.test:80'))).toMatchObject({ authority: 'a.test:80', port: 80 });
  });

  it('C12 passes an underscore on', () => {
    expect(targetOf(parseAuthority('under_score.a.test:443'))).toMatchObject({ host: 'under_score.a.test' });
  });

  it.each([
    ['a.test', 'needs a port'],
    ['[::1]', 'needs a port'],
    ['', 'empty'],
    [':443', 'empty'],
    ['a.test:443/', 'port must'],
    ['a.test:443?x', 'port must'],
    ['http://a.test:443', 'port must'],
    ['bob:s3cret@a.test:443', 'user name'],
    ['::1:443', 'empty'],
    ['1::2:443', 'port must'],
    ['[::1]443', 'closing bracket'],
    ['[::1]x:443', 'closing bracket'],
    ['[[::1]]:443', 'not an IPv6'],
    ['a..test:443', 'empty label'],
    [`${'a'.repeat(300)}:443`, '253'],
    [`${'a'.repeat(2000)}:443`, '253'],
    ['%7Bid%7D.a.test:443', 'character'],
  ])('C13 %j is refused: %s', (text, why) => {
    expect(detailOf(parseAuthority(text))).toContain(why);
    expect(detailOf(parseAuthority(text))).not.toContain('s3cret');
  });

  it.each([
    '0',
    '00',
    '080',
    '65536',
    '99999',
    '100000',
    '-1',
    '+80',
    '',
    '4x3',
    '8 0',
    '0x50',
    '８０',
    '80:80',
  ])('C14 port %j is refused in both forms', (port) => {
    expect(detailOf(parseAuthority(bytes(`a.test:${port}`)))).toContain('port must');
    expect(detailOf(parseAbsoluteForm(bytes(`http://a.test:${port}/`)))).toContain('port must');
  });

  it.each([1, 80, 443, 65_535])('port %i is fine in both forms', (port) => {
    expect(targetOf(parseAuthority(`a.test:${port}`)).port).toBe(port);
    expect(targetOf(parseAbsoluteForm(`http://a.test:${port}`)).port).toBe(port);
  });
});

describe('H29 Host fields', () => {
  it.each([
    'a.test',
    'b.test:80',
    '[::1]',
    '[::1]:8080',
    'A_b.test.',
    'a.test:',
    'xn--bcher-kva.example',
    '127.0.0.1',
  ])('%j is well-formed', (value) => {
    expect(hostFieldIsWellFormed(value)).toBe(true);
  });

  it.each([
    '',
    ':',
    ':80',
    'a b',
    'a/b',
    'bob@a.test',
    'a.test:99999',
    'a.test::',
    'a.test, b.test',
    '::1',
    'a..b',
    'http://a.test',
  ])('%j is not', (value) => {
    expect(hostFieldIsWellFormed(value)).toBe(false);
  });
});

describe('anything else', () => {
  it('never throws, and agrees with the WHATWG URL standard on the host of what it takes', () => {
    const piece = fc.constantFrom(
      'http://',
      'ws://',
      'a',
      '.',
      '..',
      ':',
      '80',
      '/',
      '?',
      '#',
      '@',
      '[',
      ']',
      '::1',
      '%',
      '\\',
      '\xc3\xbc',
      '\xff',
      ' ',
      '0x7f',
      '_',
      '-',
      'xn--',
      ',',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 12 }).map((parts) => `http://${parts.join('')}`),
    );
    const property = fc.property(text, (written) => {
      parseAuthority(written);
      hostFieldIsWellFormed(written);
      const result = parseAbsoluteForm(written);
      if (result.kind === 'refused') return;
      const unicode = Buffer.from(written, 'latin1').toString('utf8');
      const { hostname } = new URL(unicode.replace(/^ws/i, 'http'));
      const mapped = /^\[::ffff:/.test(hostname);
      if (!mapped) expect(result.target.host).toBe(hostname.replace(/^\[|\]$|\.$/g, ''));
    });
    fc.assert(property, { seed: 20_240_607, numRuns: 10_000 });
  });

  it('gives the same answer the second time, from memory', () => {
    for (const text of ['memo.test:1', 'memo.test:x', '[::1]:1']) {
      expect(parseAuthority(text)).toEqual(parseAuthority(text));
    }
    expect(parseAuthority('memo.test:1')).toBe(parseAuthority('memo.test:1'));
    const [first, second] = ['/a', '/b'].map((path) =>
      targetOf(parseAbsoluteForm(`http://memo.test${path}`)),
    );
    expect([first?.path, second?.path]).toEqual(['/a', '/b']);
  });

  it('does not fill its memory with long names', () => {
    const long = `[${'0'.repeat(20)}::1]`;
    expect(parseAuthority(`${long}:1`).kind).toBe('refused');
    const unicode = bytes(`${'ü'.repeat(50)}.${'ü'.repeat(50)}.${'ü'.repeat(50)}.${'ü'.repeat(30)}.test`);
    expect(targetOf(parseAuthority(`${unicode}:1`))).toEqual(targetOf(parseAuthority(`${unicode}:1`)));
    expect(targetOf(parseAbsoluteForm(`http://${unicode}`)).port).toBe(80);
  });
});
