import { describe, expect, it } from 'vitest';
import { UseCounts } from '../../src/credentials/use-counts.js';
import { StorageAway } from '../../src/storage/ports.js';

describe('K3 uses', () => {
  it('are written some at a time; what the store can not take waits on', async () => {
    const written: (readonly [string, object])[] = [];
    let isAway = true;
    const counts = new UseCounts({
      addUses: (uses) => {
        if (isAway) return Promise.reject(new StorageAway('test'));
        written.push(...uses);
        return Promise.resolve();
      },
    });
    await counts.flush();
    counts.note('a', 5);
    counts.note('a', 7);
    const flushing = counts.flush();
    counts.note('a', 6);
    counts.note('b', 8);
    await flushing;
    expect(counts.waiting('a')).toBe(3);
    isAway = false;
    await counts.flush();
    expect(counts.waiting('a')).toBe(0);
    expect(written).toEqual([
      ['a', { uses: 3, lastUsedMs: 7 }],
      ['b', { uses: 1, lastUsedMs: 8 }],
    ]);
  });

  it('hides no fault of its own', async () => {
    const counts = new UseCounts({ addUses: () => Promise.reject(new TypeError('ours')) });
    counts.note('a', 1);
    await expect(counts.flush()).rejects.toThrow(TypeError);
  });
});
