import { describe, expect, it } from 'vitest';
import { chainOf, fallbackFault, ratePercent } from '../../src/credentials/policy-chain.js';
import { policyOf } from './policies.js';

const book = (fallbacks: Readonly<Record<string, string | null>>) => {
  const policies = new Map(
    Object.entries(fallbacks).map(([name, fallback]) => [name, policyOf({ name, fallback })]),
  );
  return (name: string) => policies.get(name);
};
const names = (find: ReturnType<typeof book>, from: string) => chainOf(from, find).map(({ name }) => name);

describe('K12 a chain of policies', () => {
  it('goes on until there is no other, and never round', () => {
    const find = book({ high: 'low', low: 'last', last: null, lost: 'gone', a: 'b', b: 'a' });
    expect(names(find, 'high')).toEqual(['high', 'low', 'last']);
    expect(names(find, 'lost')).toEqual(['lost']);
    expect(names(find, 'gone')).toEqual([]);
    expect(names(find, 'a')).toEqual(['a', 'b']);
  });

  it('is refused where it would come back, or leads to what is not there', () => {
    const find = book({ high: 'low', low: 'last', last: null });
    expect(fallbackFault(policyOf({ name: 'new', fallback: 'high' }), find)).toBeNull();
    expect(fallbackFault(policyOf({ name: 'new' }), find)).toBeNull();
    expect(fallbackFault(policyOf({ name: 'new', fallback: 'gone' }), find)).toBe('there is no policy gone');
    expect(fallbackFault(policyOf({ name: 'last', fallback: 'high' }), find)).toBe(
      'it falls back to itself: last → high → low → last',
    );
  });

  it('K12 knows how near a rate is to what the credentials bear', () => {
    const policy = policyOf({ constraints: { rate_limit: '300/hour', per_credential_limit: '30/hour' } });
    expect(ratePercent(policy, 10)).toBe(100);
    expect(ratePercent(policy, 20)).toBe(50);
    expect(ratePercent(policy, 0)).toBeNull();
    expect(
      ratePercent(policyOf({ constraints: { rate_limit: '5/min', per_credential_limit: '300/hour' } }), 1),
    ).toBe(100);
    expect(ratePercent(policyOf(), 1)).toBeNull();
  });
});
