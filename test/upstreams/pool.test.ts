import { describe, expect, it } from 'vitest';
import { buildPool } from '../../src/upstreams/pool.js';
import { idAt, poolFrom, upstreamAt } from './pools.js';

describe('buildPool', () => {
  it('keeps the order, finds each exit by id, and knows its slot', () => {
    const upstreams = [upstreamAt(3), upstreamAt(1), upstreamAt(2)];
    const pool = buildPool(
      { name: 'p', strategy: 'random', slotsPerExit: 7, upstreams },
      (upstream) => upstreams.indexOf(upstream) + 40,
    );
    expect(pool).toMatchObject({ name: 'p', strategy: 'random', slotsPerExit: 7 });
    expect([...pool.slots]).toEqual([40, 41, 42]);
    upstreams.forEach((upstream, index) => expect(pool.indexById.get(upstream.id)).toBe(index));
  });

  it('takes an upstream that two sources name once, where it stands first', () => {
    const pool = poolFrom([upstreamAt(1), upstreamAt(2), upstreamAt(1, { country: 'de' })]);
    expect(pool.upstreams).toHaveLength(2);
    expect([...pool.slots]).toEqual([1000, 1001]);
    expect(pool.upstreams[0]?.country).toBeNull();
  });

  it('indexes countries and tags, with running sums of weights', () => {
    const pool = poolFrom([
      upstreamAt(1, { country: 'DE', tags: ['dc', 'dc'], weight: 2 }),
      upstreamAt(2, { tags: ['dc', 'fast'], weight: 0.5 }),
      upstreamAt(3, { country: 'de' }),
    ]);
    expect([...(pool.byCountry.get('de')?.members ?? [])]).toEqual([0, 2]);
    expect([...(pool.byCountry.get('de')?.cumulative ?? [])]).toEqual([2, 3]);
    expect([...(pool.byTag.get('dc')?.members ?? [])]).toEqual([0, 1]);
    expect([...(pool.byTag.get('fast')?.cumulative ?? [])]).toEqual([0.5]);
    expect([...pool.all.cumulative]).toEqual([2, 2.5, 3.5]);
    expect([pool.all.key, pool.byTag.get('dc')?.key]).toEqual(['main\nall', 'main\ntag=dc']);
    expect(pool.byTag.get('slow')).toBeUndefined();
  });

  it('an empty pool is a pool', () => {
    const pool = poolFrom([]);
    expect(pool.all.members).toHaveLength(0);
    expect(idAt(pool, 0)).toBe('');
  });
});
