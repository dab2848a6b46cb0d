import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Smallest } from '../../src/state/smallest.js';

describe('Smallest', () => {
  it('has the first few of anything, in order, each key once with what came last', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 })),
        fc.integer({ min: 1, max: 10 }),
        (numbers, limit) => {
          const keyOf = (n: number): string => String(n).padStart(3, '0');
          const few = new Smallest<number>(limit, keyOf);
          for (const n of numbers) few.offer(n);
          expect(few.sorted()).toEqual([...new Set(numbers)].sort((a, b) => a - b).slice(0, limit));
        },
      ),
    );
  });
});
