import { describe, expect, it } from 'vitest';
import { seededRandom, systemRandom } from '../../src/core/random.js';

describe('chance', () => {
  it('is the same for the same seed and another for another', () => {
    const draw = (seed: number): number[] => Array.from({ length: 5 }, seededRandom(seed).float);
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it.each([
    ['system', systemRandom],
    ['seeded', seededRandom(3)],
  ])('of the %s kind keeps to its bounds', (_kind, random) => {
    for (let i = 0; i < 1000; i++) {
      const share = random.float();
      expect(share >= 0 && share < 1).toBe(true);
      const number = random.below(7);
      expect(Number.isInteger(number) && number >= 0 && number < 7).toBe(true);
    }
    expect(random.hex(8)).toMatch(/^[0-9a-f]{16}$/);
  });

  it('spreads evenly', () => {
    const random = seededRandom(5);
    const counts = [0, 0, 0, 0];
    for (let i = 0; i < 40_000; i++) counts[random.below(4)]!++;
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400);
  });
});
