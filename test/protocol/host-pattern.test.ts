import { describe, expect, it } from 'vitest';
import { compileHostPattern } from '../../src/protocol/host-pattern.js';

const matches = (pattern: string, host: string): boolean | undefined => compileHostPattern(pattern)?.(host);

describe('host patterns', () => {
  it.each([
    ['example.com', 'example.com', true],
    ['Example.COM.', 'example.com', true],
    ['example.com', 'a.example.com', false],
    ['*.example.com', 'a.example.com', true],
    ['*.example.com', 'a.b.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'evil-example.com', false],
    ['*.example.com', 'a.example.com.evil.test', false],
    ['*.example.com', '.example.com', false],
    ['*.bücher.example', 'a.xn--bcher-kva.example', true],
    ['*', 'anything', true],
    ['127.0.0.1', '127.0.0.1', true],
    ['::1', '::1', true],
    ['[::1]', '::1', true],
    ['*.internal', 'a.internal', true],
  ])('%s and %s: %s', (pattern, host, expected) => {
    expect(matches(pattern, host)).toBe(expected);
  });

  it.each([
    '',
    '*.',
    '**',
    'a.*.test',
    '*a.test',
    '*.127.0.0.1',
    '*.[::1]',
    'a b',
    'http://a.test',
    'a.test:80',
  ])('%j is no pattern', (pattern) => {
    expect(compileHostPattern(pattern)).toBeNull();
  });
});
