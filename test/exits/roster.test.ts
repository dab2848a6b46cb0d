import { describe, expect, it } from 'vitest';
import { Roster } from '../../src/exits/roster.js';
import type { Upstream } from '../../src/upstreams/upstream.js';
import { poolFrom, upstreamAt } from '../upstreams/pools.js';

const [a, b, c, d] = [0, 1, 2, 3].map((n) => upstreamAt(n)) as [Upstream, Upstream, Upstream, Upstream];

describe('Roster', () => {
  it('keeps what was added and removed over new readings of the sources', () => {
    const roster = new Roster();
    expect(roster.compose(poolFrom([a, b]))).toEqual([a, b]);
    roster.add('main', c);
    roster.remove('main', a.id);
    expect(roster.current(poolFrom([a, b]))).toEqual([b, c]);
    expect(roster.compose(poolFrom([a, b, d]))).toEqual([b, d, c]);
    roster.remove('main', c.id);
    roster.add('main', a);
    expect(roster.compose(poolFrom([a, b, d]))).toEqual([a, b, d]);
  });

  it('takes what the sources name later for theirs', () => {
    const roster = new Roster();
    roster.compose(poolFrom([a]));
    roster.add('main', b);
    expect(roster.compose(poolFrom([a, b]))).toEqual([a, b]);
  });

  it('knows pools apart, and does not change one for another', () => {
    const roster = new Roster();
    roster.compose(poolFrom([a]));
    roster.compose({ ...poolFrom([a]), name: 'other' });
    roster.remove('main', a.id);
    expect(roster.compose({ ...poolFrom([a]), name: 'other' })).toEqual([a]);
    expect(roster.compose(poolFrom([a]))).toEqual([]);
  });

  it('keeps an exit out that was removed, added and removed again', () => {
    const roster = new Roster();
    roster.remove('main', a.id);
    roster.add('main', a);
    roster.remove('main', a.id);
    expect(roster.compose(poolFrom([a, b]))).toEqual([b]);
  });

  it('takes an exit that was added out of the snapshot that has it', () => {
    const roster = new Roster();
    roster.add('main', c);
    const withIt = poolFrom(roster.current(poolFrom([a, b])));
    roster.remove('main', c.id);
    expect(roster.current(withIt)).toEqual([a, b]);
  });

  it('gives the very list of a snapshot in which nothing is to be changed', () => {
    const roster = new Roster();
    roster.add('main', c);
    roster.remove('main', a.id);
    const pool = poolFrom([b, c]);
    expect(roster.current(pool)).toBe(pool.upstreams);
  });
});
