import { describe, expect, it } from 'vitest';
import { modulo, rendezvous, ring } from '../../src/upstreams/shards.js';
import type { OwnerOf } from '../../src/upstreams/shards.js';

const exits = Array.from({ length: 10_000 }, (_, index) => ({
  id: `u-${(index * 7919).toString(16).padStart(8, '0')}`,
  index,
}));
const gateways = (count: number): string[] => Array.from({ length: count }, (_, n) => `gateway-${n}`);
const ownersBy = (ownerOf: OwnerOf): (string | null)[] => exits.map((exit) => ownerOf(exit));
const moved = (before: (string | null)[], after: (string | null)[]): number =>
  before.filter((owner, n) => owner !== after[n]).length;

describe.each([
  ['ring', ring],
  ['rendezvous', rendezvous],
] as const)('%s', (_, shards) => {
  const ten = ownersBy(shards(gateways(10)));

  it('S1 one of ten gateways that leaves or joins moves at most 1.3/n of 10,000 exits, and nothing else', () => {
    for (let gone = 0; gone < 10; gone++) {
      const rest = gateways(10).filter((id) => id !== `gateway-${gone}`);
      const nine = ownersBy(shards(rest));
      expect(moved(ten, nine)).toBeLessThanOrEqual((1.3 / 10) * exits.length);
      expect(ten.every((owner, n) => owner === nine[n] || owner === `gateway-${gone}`)).toBe(true);
    }
    const eleven = ownersBy(shards(gateways(11)));
    expect(moved(ten, eleven)).toBeLessThanOrEqual((1.3 / 11) * exits.length);
    expect(ten.every((owner, n) => owner === eleven[n] || eleven[n] === 'gateway-10')).toBe(true);
  });

  it('S1 every gateway has about its part', () => {
    for (const id of gateways(10)) {
      const part = ten.filter((owner) => owner === id).length;
      expect(part).toBeGreaterThan(700);
      expect(part).toBeLessThan(1300);
    }
  });

  it('S1 the order of the list decides nothing', () => {
    expect(moved(ten, ownersBy(shards(gateways(10).reverse())))).toBe(0);
  });

  it('S1 one alone owns all, none owns nothing', () => {
    expect(new Set(ownersBy(shards(['a'])))).toEqual(new Set(['a']));
    expect(shards([])(exits[0] ?? { id: '', index: 0 })).toBeNull();
  });
});

describe('modulo', () => {
  it('S1 deals exits out in their order', () => {
    const ownerOf = modulo(['a', 'b', 'c']);
    expect(exits.slice(0, 4).map((exit) => ownerOf(exit))).toEqual(['a', 'b', 'c', 'a']);
    expect(modulo([])({ id: 'u', index: 0 })).toBeNull();
  });
});
