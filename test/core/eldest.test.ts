import { describe, expect, it } from 'vitest';
import { dropEldest, touched } from '../../src/core/eldest.js';

describe('dropEldest', () => {
  it('removes what was set first, and says what it was', () => {
    const map = new Map([
      ['a', 1],
      ['b', 2],
    ]);
    expect(dropEldest(map)).toBe('a');
    expect([...map.keys()]).toEqual(['b']);
  });

  it('does nothing to an empty map', () => {
    expect(dropEldest(new Map())).toBeUndefined();
  });
});

describe('touched', () => {
  it('makes a value once, and what is touched again is the youngest', () => {
    const map = new Map<string, number>();
    let made = 0;
    const make = (): number => ++made;
    expect(['a', 'b', 'a'].map((key) => touched(map, key, 2, make))).toEqual([1, 2, 1]);
    expect([...map.keys()]).toEqual(['b', 'a']);
    expect(touched(map, 'c', 2, make)).toBe(3);
    expect([...map.keys()]).toEqual(['a', 'c']);
  });
});
