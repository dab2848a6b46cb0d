import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cursorAt, placeOf, slice } from '../../src/admin/pages.js';

describe('pages', () => {
  it('of any size together are the whole list, each item once', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ minLength: 1 })),
        fc.integer({ min: 1, max: 5 }),
        (keys, limit) => {
          const sorted = [...keys].sort();
          const seen: string[] = [];
          let cursor: string | undefined;
          do {
            const page = slice(sorted, (key) => key, { limit, cursor });
            expect(page.items.length).toBeLessThanOrEqual(limit);
            seen.push(...page.items);
            cursor = page.next ?? undefined;
          } while (cursor !== undefined);
          expect(seen).toEqual(sorted);
        },
      ),
    );
  });

  it('go on behind an item that is gone', () => {
    const { next } = slice(['a', 'b', 'c'], (key) => key, { limit: 2 });
    expect(slice(['a', 'c'], (key) => key, { limit: 2, cursor: next ?? '' })).toEqual({
      items: ['c'],
      next: null,
    });
  });

  it('know their own cursors from others', () => {
    expect(placeOf(cursorAt('ü/ \n'))).toBe('ü/ \n');
    for (const cursor of ['', '!', 'a', 'YQ==', 'ww'])
      expect(() => placeOf(cursor), cursor).toThrow('none of ours');
  });
});
