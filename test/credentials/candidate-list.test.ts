import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CandidateList, isDrawn } from '../../src/credentials/candidate-list.js';
import { selectors } from '../../src/credentials/policy-document.js';
import { seededRandom } from '../../src/core/random.js';

const steps = fc.array(
  fc.oneof(
    fc.record({
      what: fc.constant('set' as const),
      slot: fc.nat(20),
      value: fc.option(fc.integer({ min: 1, max: 9 })),
    }),
    fc.record({ what: fc.constant('remove' as const), slot: fc.nat(20) }),
  ),
);

describe('K3 candidates', () => {
  it('are those that may be chosen, each once, whatever came and went', () => {
    fc.assert(
      fc.property(fc.constantFrom(...selectors), steps, fc.integer(), (selector, all, seed) => {
        const list = new CandidateList(selector, seededRandom(seed));
        const model = new Map<number, number | null>();
        for (const step of all) {
          if (step.what === 'remove') {
            list.remove(step.slot);
            model.delete(step.slot);
          } else {
            list.set(step.slot, step.value);
            model.set(step.slot, step.value);
          }
        }
        expect(list.size).toBe(model.size);
        const choosable = [...model].flatMap(([slot, value]) => (value === null ? [] : [slot]));
        const next = list.next(100);
        expect([...next].sort((a, b) => a - b)).toEqual(choosable.sort((a, b) => a - b));
        expect(list.next(3)).toHaveLength(Math.min(3, choosable.length));
        const values = next.map((slot) => model.get(slot) ?? 0);
        if (!isDrawn(selector)) expect(values).toEqual([...values].sort((a, b) => a - b));
        expect(list.some(5)).toHaveLength(Math.min(5, model.size));
        for (let slot = 0; slot <= 20; slot++) expect(list.has(slot)).toBe(model.has(slot));
      }),
    );
  });

  it('are drawn as often as their weights say', () => {
    const list = new CandidateList('weighted_random', seededRandom(7));
    [1, 2, 5].forEach((weight, slot) => list.set(slot, weight));
    const counts = [0, 0, 0];
    for (let n = 0; n < 8000; n++) {
      const slot = list.next(1)[0] ?? 0;
      counts[slot] = (counts[slot] ?? 0) + 1;
    }
    expect(counts.map((each) => Math.round(each / 500) / 2)).toEqual([1, 2, 5]);
  });
});
