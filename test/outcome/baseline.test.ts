import { describe, expect, it } from 'vitest';
import { Baseline, pathShape } from '../../src/outcome/baseline.js';

const page = (n: number, host = 'shop.example') => ({ host, path: `/p/${n}?x=${n}`, coding: '' });

function learnt(sizes: readonly number[]): number | null {
  const baseline = new Baseline();
  sizes.forEach((size, n) => baseline.learn(page(n), { size, firstByteMs: size / 10 }));
  return baseline.usual(page(0)).size;
}

const times = (count: number, size: number): number[] => Array.from({ length: count }, () => size);

describe('what is usual', () => {
  it('is told from eight answers on', () => {
    expect(learnt(times(7, 1000))).toBe(null);
    expect(learnt(times(8, 1000))).toBe(1000);
    expect(new Baseline().usual(page(1))).toEqual({ size: null, firstByteMs: null });
  });

  it('is not moved by a few odd answers', () => {
    expect(learnt([...times(15, 1000), ...times(7, 5)])).toBe(1000);
  });

  it('follows a site that changes', () => {
    expect(learnt([...times(31, 1000), ...times(20, 400)])).toBe(400);
  });

  it('is told apart by host, shape of the path and coding', () => {
    const baseline = new Baseline();
    for (let n = 0; n < 8; n++) baseline.learn(page(n), { size: 1000, firstByteMs: 20 });
    expect(baseline.usual(page(99))).toEqual({ size: 1000, firstByteMs: 20 });
    expect(baseline.usual(page(1, 'other.example')).size).toBe(null);
    expect(baseline.usual({ ...page(1), path: '/about' }).size).toBe(null);
    expect(baseline.usual({ ...page(1), coding: 'gzip' }).size).toBe(null);
  });

  it('is bounded: the site and the shape that were learnt longest ago go first', () => {
    const baseline = new Baseline();
    for (let n = 0; n < 3000; n++) baseline.learn(page(1, `site-${n}.example`), { size: 1, firstByteMs: 1 });
    expect(baseline.size).toBe(2000);
    for (let shape = 0; shape < 20; shape++) {
      for (let n = 0; n < 8; n++)
        baseline.learn({ ...page(1), path: `/s${shape}` }, { size: 9, firstByteMs: 1 });
    }
    expect(baseline.usual({ ...page(1), path: '/s19' }).size).toBe(9);
    expect(baseline.usual({ ...page(1), path: '/s1' }).size).toBe(null);
  });
});

describe('the shape of a path', () => {
  it.each([
    ['/', '/'],
    ['/p/123', '/p/#'],
    ['/p/123/blue-shirt-99812?x=1', '/p/#/*'],
    ['/a/b/c/d/e/f', '/a/b/c/d'],
    ['/user/4f9a8c21', '/user/*'],
    ['/a-very-long-title-of-an-article', '/*'],
    ['/v2/list', '/v2/list'],
  ])('%s is %s', (path, shape) => {
    expect(pathShape(path)).toBe(shape);
  });
});
