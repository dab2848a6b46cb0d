import { describe, expect, it } from 'vitest';
import { isHost } from '../../src/http1/head-fields.js';

const longName = `${'a'.repeat(63)}.`.repeat(3) + 'a'.repeat(61);

describe('Host', () => {
  it.each([
    'a.test',
    'A.Test:8080',
    'a.test.',
    'under_score.a.test',
    'localhost',
    '127.0.0.1:1',
    '[::1]',
    '[2001:db8::1]:443',
    '[::ffff:127.0.0.1]',
    'a.test:',
    'm\xfcnchen.test',
    'a:65535',
    longName,
    `${longName}.`,
  ])('is one: %s', (text) => {
    expect(isHost(text)).toBe(true);
  });

  it.each([
    '',
    ':80',
    '.',
    '.a',
    'a..b',
    'a.test..',
    'a/b',
    'u@a',
    'a b',
    'a,b',
    'a%41',
    'a:b',
    'a:65536',
    'a:123456',
    'a:000080',
    'a:80:80',
    'a?b',
    'a#b',
    '[::1',
    '::1',
    '[]',
    '[1]',
    '[::1]x',
    '[fe80::1%25eth0]',
    '[::g]',
    'http://a',
    `${longName}a`,
    `${longName}a.`,
  ])('is none: %j', (text) => {
    expect(isHost(text)).toBe(false);
  });
});
