import { describe, expect, it } from 'vitest';
import { isDeeperThan } from '../../src/admin/bodies.js';

const nested = (depth: number): unknown =>
  JSON.parse(`${'{"a":['.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`);

describe('isDeeperThan', () => {
  it('counts levels of lists and objects', () => {
    expect([1, 'a', null, undefined, {}, []].map((each) => isDeeperThan(each, 0))).toEqual([
      ...[false, false, false, false, false, false],
    ]);
    expect([isDeeperThan({ a: 1 }, 0), isDeeperThan({ a: 1 }, 1)]).toEqual([true, false]);
    expect([isDeeperThan(nested(32), 32), isDeeperThan(nested(34), 32)]).toEqual([false, true]);
  });

  it('walks a body of any depth', () => {
    expect(isDeeperThan(nested(10_000), 32)).toBe(true);
  });
});
