import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RENDEZVOUS_MAX, buildHashRing, hashSeeds, pickByHash } from '../../src/upstreams/hash.js';
import type { Pool } from '../../src/upstreams/pool.js';
import { idAt, poolFrom, poolOf, upstreamAt } from './pools.js';

const everyone = (): boolean => true;
const keyOf = (n: number): string => `7:crawler:session-${n}`;

function pick(pool: Pool, key: string, isEligible: (index: number) => boolean = everyone): number {
  return pickByHash(pool.all.ring, key, isEligible);
}

/** Max over mean of the keys per unit of weight. */
function lopsidedness(pool: Pool, keys: number): number {
  const counts = new Float64Array(pool.upstreams.length);
  for (let n = 0; n < keys; n++) {
    const index = pick(pool, keyOf(n));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  const weights = pool.upstreams.map(({ weight }) => weight);
  const mean = keys / weights.reduce((sum, weight) => sum + weight, 0);
  return Math.max(...counts.map((count, index) => count / (weights[index] ?? 1))) / mean;
}

/** As many as it takes for the bound to be about the hash and not about chance. */
const keysFor = (count: number): number => Math.max(100_000, count * 800);

/** A pool small enough for scores, and one large enough for a ring. */
const sizes = [20, RENDEZVOUS_MAX + 44];

describe('K07 keys fall evenly', () => {
  it.each([2, 3, 10, 128, RENDEZVOUS_MAX, RENDEZVOUS_MAX + 1, 500])('over %i exits of one kind', (count) => {
    expect(lopsidedness(poolOf(count), keysFor(count))).toBeLessThan(1.3);
  });

  it.each([2, 10, 128, 500])('over %i exits by weight', (count) => {
    const pool = poolOf(count, 'random', (n) => ({ weight: 1 + (n % 3) }));
    expect(lopsidedness(pool, keysFor(count))).toBeLessThan(1.3);
  });

  it('small and huge weights still get a point, and not the whole ring', () => {
    const pool = poolOf(300, 'random', (n) => ({ weight: n === 0 ? 0.001 : n === 1 ? 1e9 : 1 }));
    const points = [...pool.all.ring.owners];
    expect(points.filter((owner) => owner === 0)).toHaveLength(1);
    expect(points.filter((owner) => owner === 1)).toHaveLength(256);
    expect(points.filter((owner) => owner === 2)).toHaveLength(4);
  });
});

describe('G5 the same key gets the same exit everywhere', () => {
  it.each(sizes)('whatever the order of the list, over %i exits', (count) => {
    const upstreams = Array.from({ length: count }, (_, n) => upstreamAt(n));
    const pool = poolFrom(upstreams);
    const turned = poolFrom([...upstreams].reverse());
    for (let n = 0; n < 2000; n++) {
      expect(idAt(pool, pick(pool, keyOf(n)))).toBe(idAt(turned, pick(turned, keyOf(n))));
    }
  });

  it('in every version of the program: three keys, written down', () => {
    const small = poolOf(20);
    const large = poolOf(300);
    expect([1, 2, 3].map((n) => pick(small, keyOf(n)))).toEqual([14, 5, 16]);
    expect([1, 2, 3].map((n) => pick(large, keyOf(n)))).toEqual([213, 198, 203]);
  });

  it('equal points are told apart by id, not by place', () => {
    const upstreams = Array.from({ length: 300 }, (_, n) => upstreamAt(n));
    const seeds = { ...hashSeeds(upstreams), seeds: new Uint32Array(300) };
    const members = Uint32Array.from(upstreams.keys());
    const ring = buildHashRing(seeds, members, (index) => upstreams[index]?.id ?? '');
    const ids = [...ring.owners].map((owner) => upstreams[owner]?.id ?? '');
    expect(ids).toEqual([...ids].sort());
  });
});

describe('only the keys of a lost exit move', () => {
  it.each(sizes)('for any loss in a pool of %i', (count) => {
    const pool = poolOf(count);
    const lost = fc.uniqueArray(fc.nat(count - 1), { maxLength: count - 1 });
    fc.assert(
      fc.property(lost, fc.nat(1_000_000), fc.nat(count - 1), (indexes, n, further) => {
        const out = new Set(indexes);
        const before = pick(pool, keyOf(n), (index) => !out.has(index));
        const after = pick(pool, keyOf(n), (index) => !out.has(index) && index !== further);
        if (before === further) expect(after).not.toBe(before);
        else expect(after).toBe(before);
      }),
      { numRuns: 1000 },
    );
  });

  it.each(sizes)('and they spread over all others, in a pool of %i', (count) => {
    const pool = poolOf(count);
    const heirs = new Map<number, number>();
    let moved = 0;
    for (let n = 0; moved < 500; n++) {
      if (pick(pool, keyOf(n)) !== 5) continue;
      moved++;
      const heir = pick(pool, keyOf(n), (index) => index !== 5);
      heirs.set(heir, (heirs.get(heir) ?? 0) + 1);
    }
    expect(heirs.size).toBeGreaterThan(count * 0.5);
    expect(Math.max(...heirs.values())).toBeLessThan(500 * 0.2);
  });

  it.each(sizes)('a list of %i without its last member gives the others what they had', (count) => {
    const upstreams = Array.from({ length: count }, (_, n) => upstreamAt(n));
    const whole = poolFrom(upstreams);
    const shrunk = poolFrom(upstreams.slice(0, -1));
    for (let n = 0; n < 2000; n++) {
      const before = pick(whole, keyOf(n));
      if (before !== count - 1) expect(pick(shrunk, keyOf(n))).toBe(before);
    }
  });
});

describe('an exit is found when there is one', () => {
  it.each(sizes)('the last usable one of %i', (count) => {
    const pool = poolOf(count);
    for (let n = 0; n < count; n++) expect(pick(pool, keyOf(n), (index) => index === n)).toBe(n);
  });

  it.each([0, ...sizes])('none of %i', (count) => {
    expect(pick(poolOf(count), 'k', () => false)).toBe(-1);
  });

  it('refuses more exits than its points can name', () => {
    const members = { length: 2 ** 21 + 1 } as Uint32Array;
    expect(() => buildHashRing(hashSeeds([]), members, () => '')).toThrow(RangeError);
  });
});
