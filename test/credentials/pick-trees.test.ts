import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RankTree, WeightTree } from '../../src/credentials/pick-trees.js';

const writes = fc.array(
  fc.tuple(fc.nat(40), fc.oneof(fc.constant(0), fc.double({ min: 0.001, max: 1000, noNaN: true }))),
);

describe('pick trees', () => {
  it('a weight tree draws each place by its weight', () => {
    fc.assert(
      fc.property(writes, fc.double({ min: 0, max: 0.999999, noNaN: true }), (all, fraction) => {
        const tree = new WeightTree();
        const model: number[] = [];
        for (const [place, weight] of all) {
          tree.set(place, weight);
          model[place] = weight;
        }
        const total = model.reduce((sum, weight) => sum + (weight ?? 0), 0);
        const found = tree.at(fraction);
        if (total === 0) {
          expect(found).toBeNull();
          return;
        }
        const start = model.slice(0, found ?? 0).reduce((sum, weight) => sum + (weight ?? 0), 0);
        const own = model[found ?? 0] ?? 0;
        expect(own).toBeGreaterThan(0);
        expect(fraction * total).toBeGreaterThanOrEqual(start - 1e-6);
        expect(fraction * total).toBeLessThanOrEqual(start + own + 1e-6);
      }),
    );
  });

  it('a rank tree gives the lowest, the first of several', () => {
    const ranks = fc.array(fc.tuple(fc.nat(40), fc.oneof(fc.constant(Infinity), fc.nat(5))));
    fc.assert(
      fc.property(ranks, (all) => {
        const tree = new RankTree();
        const model: number[] = Array.from({ length: 41 }, () => Infinity);
        for (const [place, rank] of all) {
          tree.set(place, rank);
          model[place] = rank;
        }
        const least = Math.min(...model);
        expect(tree.first()).toBe(least === Infinity ? null : model.indexOf(least));
        for (const [place] of all) expect(tree.get(place)).toBe(model[place]);
      }),
    );
  });

  it('what is muted is out', () => {
    const ranks = new RankTree();
    ranks.set(3, 1);
    ranks.mute(3);
    ranks.mute(900);
    expect(ranks.first()).toBeNull();
    const weights = new WeightTree();
    weights.set(1, 2);
    weights.mute(1);
    expect(weights.at(0.5)).toBeNull();
    expect(weights.get(77)).toBe(0);
  });
});
