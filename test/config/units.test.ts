import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatAddress,
  isLoopback,
  parseAddress,
  parseDuration,
  parseSize,
  parseByteRate,
} from '../../src/config/units.js';

describe('durations', () => {
  it.each([
    ['30s', 30_000],
    ['5m', 300_000],
    ['5min', 300_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['250ms', 250],
    ['1.5s', 1500],
    [' 2 s ', 2000],
    ['7', 7000],
    ['0.5', 500],
    [7, 7000],
    [0, 0],
  ])('%s is %d ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', 's', '5 fortnights', '-1s', '1e3s', '1,5s', '5s5m', '٣s', 'Infinity'])('%j is none', (text) =>
    expect(parseDuration(text)).toBeNull(),
  );

  it.each([-1, NaN, Infinity])('the number %d is none', (value) => expect(parseDuration(value)).toBeNull());
});

describe('sizes', () => {
  it.each([
    ['64KiB', 65_536],
    ['64kib', 65_536],
    ['1MB', 1_000_000],
    ['10kB', 10_000],
    ['512B', 512],
    ['1.5KiB', 1536],
    ['4096', 4096],
    [4096, 4096],
  ])('%s is %d bytes', (text, bytes) => expect(parseSize(text)).toBe(bytes));

  it.each(['', 'KiB', '-1', '1XB', '64 K B'])('%j is none', (text) => expect(parseSize(text)).toBeNull());

  it.each([-1, 1.5, NaN])('the number %d is none', (value) => expect(parseSize(value)).toBeNull());
});

describe('addresses', () => {
  it.each([
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
    ['0.0.0.0:65535', { host: '0.0.0.0', port: 65_535 }],
  ])('%s', (text, address) => expect(parseAddress(text)).toEqual(address));

  it.each([
    '',
    ':8080',
    '8080',
    '127.0.0.1',
    '127.1:80',
    '0177.0.0.1:80',
    '256.0.0.1:80',
    'a:65536',
    '::1:80',
    '[::1]',
    '[x]:1',
    'a b:1',
  ])('%j is none', (text) => expect(parseAddress(text)).toBeNull());

  it('are written as they are read', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain()),
        fc.integer({ min: 0, max: 65_535 }),
        (host, port) => {
          expect(parseAddress(formatAddress({ host, port }))).toEqual({ host, port });
        },
      ),
    );
  });

  it.each(['127.0.0.1', '127.8.9.1', '::1', 'localhost', 'a.localhost', '::ffff:127.0.0.1'])(
    '%s is loopback',
    (host) => expect(isLoopback(host)).toBe(true),
  );

  it.each(['0.0.0.0', '::', '10.0.0.1', 'example.com', 'notlocalhost', '128.0.0.1', ''])(
    '%j is not',
    (host) => expect(isLoopback(host)).toBe(false),
  );
});

describe('an amount in a time', () => {
  it.each([
    ['10GiB/day', 10 * 1024 ** 3, 86_400_000],
    ['500MB/h', 500_000_000, 3_600_000],
    ['1.5kB / 10m', 1500, 600_000],
    ['100/s', 100, 1000],
  ])('%s', (text, count, perMs) => expect(parseByteRate(text)).toEqual({ count, perMs }));

  it.each([
    '',
    '/',
    '10GiB',
    '10GiB/',
    '/day',
    '0B/day',
    '10GiB/fortnight',
    '10XB/day',
    '1GB/day burst 3',
    '-1GB/h',
  ])('is not %j', (text) => expect(parseByteRate(text)).toBeNull());
});
