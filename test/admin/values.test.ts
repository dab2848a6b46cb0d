import { describe, expect, it } from 'vitest';
import { exitId, line, name, readTtl } from '../../src/admin/values.js';

describe('values', () => {
  it.each([
    [90, 90_000],
    ['90', 90_000],
    ['1.5', 1500],
    ['250ms', 250],
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h', 3_600_000],
    ['30d', 30 * 86_400_000],
    [0, null],
    ['0', null],
    ['31d', null],
    ['-1', null],
    ['1e9', null],
    [NaN, null],
    [Infinity, null],
    ['1 h', null],
    ['1w', null],
    ['', null],
  ])('a time of %j is %j ms', (given, ms) => {
    expect(readTtl(given)).toBe(ms);
  });

  it('are bounded and hold nothing that could move a cursor', () => {
    for (const bad of ['', 'a\nb', '\u001b[2J', '\u0085', '\u2028', 'x'.repeat(201)])
      expect(line(200).safeParse(bad).success, JSON.stringify(bad)).toBe(false);
    expect(line(200).safeParse('blocked by hand: “no”').success).toBe(true);
    for (const bad of ['', '.a', 'a b', 'a/b', 'x'.repeat(65), '__proto__'])
      expect(name().safeParse(bad).success, bad).toBe(false);
    for (const bad of ['', 'u a', 'u/../x', 'x'.repeat(81)])
      expect(exitId().safeParse(bad).success, bad).toBe(false);
  });
});
