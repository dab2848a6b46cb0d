import { describe, expect, it } from 'vitest';
import { Trickle } from '../../src/exits/trickle.js';

describe('a trickle', () => {
  it('lets one through in a while, for each name', () => {
    const trickle = new Trickle(1000);
    expect([
      trickle.take('a', 0),
      trickle.take('a', 999),
      trickle.take('b', 999),
      trickle.take('a', 1000),
    ]).toEqual([true, false, true, true]);
  });

  it('is bounded', () => {
    const trickle = new Trickle(1000);
    for (let n = 0; n < 10_000; n++) trickle.take(`${n}`, 0);
    expect([trickle.take('more', 0), trickle.take('0', 0)]).toEqual([true, true]);
  });
});
