import { describe, expect, it } from 'vitest';
import { WorkQueue } from '../../src/access/work-queue.js';

/** Work that ends when it is told to. */
function gated() {
  const running: ((value: number) => void)[] = [];
  const work = () => new Promise<number>((resolve) => running.push(resolve));
  return { running, work };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a queue of dear work', () => {
  it('does so much at once, and the rest in its order', async () => {
    const queue = new WorkQueue({ atOnce: 2, most: 10, waitMs: 1000 }, () => 0);
    const { running, work } = gated();
    const results = [1, 2, 3].map(() => queue.run(work));
    await turn();
    expect([running.length, queue.waiting]).toEqual([2, 1]);
    running[0]?.(1);
    await turn();
    expect([running.length, queue.waiting]).toEqual([3, 0]);
    running[1]?.(2);
    running[2]?.(3);
    expect(await Promise.all(results)).toEqual([1, 2, 3]);
  });

  it('turns away what finds it full, and what waited too long', async () => {
    let nowMs = 0;
    const queue = new WorkQueue({ atOnce: 1, most: 1, waitMs: 1000 }, () => nowMs);
    const { running, work } = gated();
    const first = queue.run(work);
    const late = queue.run(work);
    expect(await queue.run(work)).toBeNull();
    nowMs = 1001;
    running[0]?.(1);
    expect(await Promise.all([first, late])).toEqual([1, null]);
    const next = queue.run(work);
    await turn();
    running[1]?.(2);
    expect(await next).toBe(2);
  });

  it('goes on after work that fails', async () => {
    const queue = new WorkQueue({ atOnce: 1, most: 1, waitMs: 1000 }, () => 0);
    const failing = queue.run(() => Promise.reject(new Error('no memory')));
    const next = queue.run(() => Promise.resolve(1));
    await expect(failing).rejects.toThrow('no memory');
    expect(await next).toBe(1);
  });
});
