import { describe, expect, it } from 'vitest';
import { answerOrder, isBetter, isDeliverable } from '../../src/outcome/best-answer.js';
import { answer, fault, verdictOf } from './verdicts.js';

const blocked = { ...verdictOf(answer(200)), name: 'blocked' } as const;
const byName = {
  ok: verdictOf(answer(200)),
  target_failed: { ...verdictOf(answer(200)), name: 'target_failed' } as const,
  suspect: verdictOf(answer(403)),
  throttled: verdictOf(answer(429)),
  blocked,
  unclear: verdictOf(answer(503)),
};
const refused = verdictOf(fault('refused'));

describe('the better of two answers', () => {
  it('goes by the order', () => {
    const ranked = answerOrder.map((name) => byName[name as keyof typeof byName]);
    ranked.forEach((earlier, first) => {
      ranked.forEach((last, second) => {
        expect(isBetter(earlier, last), `${earlier.name} before ${last.name}`).toBe(first < second);
      });
    });
  });

  it('is any answer where the other is none, and never a fault', () => {
    expect([isBetter(byName.unclear, refused), isBetter(refused, byName.unclear)]).toEqual([true, false]);
    expect([isBetter(refused, refused), isDeliverable(refused)]).toEqual([false, false]);
  });

  it('B14 between equals is the last', () => {
    expect(isBetter(blocked, blocked)).toBe(false);
  });
});
