import { describe, expect, it } from 'vitest';
import { RENDEZVOUS_MAX, pickByHash } from '../../src/upstreams/hash.js';
import { buffersOf, buildPoolIndex } from '../../src/upstreams/pool-index.js';
import { assemblePool } from '../../src/upstreams/pool.js';
import { poolFrom, upstreamAt } from './pools.js';

const count = RENDEZVOUS_MAX * 3;
const upstreams = Array.from({ length: count }, (_, n) =>
  upstreamAt(n, {
    country: n % 3 === 0 ? 'de' : 'fr',
    city: n % 2 === 0 ? 'New York' : 'ulm',
    asn: 64_500 + (n % 4),
    tags: n < 10 ? ['few', 'dc', 'dc'] : ['dc'],
  }),
);

describe('buildPoolIndex', () => {
  it('groups by country, city, system and tag', () => {
    const pool = poolFrom(upstreams);
    expect(pool.byCountry.get('de')?.members).toHaveLength(count / 3);
    expect([...(pool.byTag.get('few')?.members ?? [])]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(pool.byTag.get('dc')?.members).toHaveLength(count);
    expect([...(pool.byAsn.get('64503')?.members ?? [])].slice(0, 3)).toEqual([3, 7, 11]);
    expect(pool.byCity.get('new_york')?.members[1]).toBe(2);
    expect(pool.byCity.get('berlin')).toBeUndefined();
  });

  it('gives each group the ring that it would have as a pool of its own', () => {
    const pool = poolFrom(upstreams);
    const french = upstreams.filter((_, n) => n % 3 !== 0);
    const alone = poolFrom(french);
    const list = pool.byCountry.get('fr');
    for (let n = 0; n < 500; n++) {
      const index = list === undefined ? -1 : pickByHash(list.ring, `key-${n}`, () => true);
      const other = pickByHash(alone.all.ring, `key-${n}`, () => true);
      expect(upstreams[index]?.id).toBe(french[other]?.id);
    }
  });

  it('is the same pool after its arrays went through a structured clone', () => {
    const index = buildPoolIndex(upstreams);
    const sent = structuredClone(index, { transfer: buffersOf(index) });
    expect(index.members).toHaveLength(0);
    const parts = {
      upstreams,
      indexById: new Map(upstreams.map(({ id }, at) => [id, at])),
      slots: Uint32Array.from(upstreams.keys()),
      index: sent,
    };
    const pool = assemblePool({ name: 'p', strategy: 'random', slotsPerExit: 1 }, parts);
    const here = poolFrom(upstreams);
    for (const name of ['de', 'fr']) {
      expect(pool.byCountry.get(name)?.ring.points).toEqual(here.byCountry.get(name)?.ring.points);
      expect(pool.byCountry.get(name)?.cumulative).toEqual(here.byCountry.get(name)?.cumulative);
    }
  });

  it('an empty pool has an index too', () => {
    expect(buildPoolIndex([]).groups.tag?.names).toEqual([]);
  });
});
