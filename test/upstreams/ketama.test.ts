/**
 * Expected values were computed with `uhashring` 2.1 (Debian's python3-uhashring, "compatible with ketama"):
 * `HashRing(nodes, hash_fn='ketama').get_node(key)` for 10,000 keys; the digest is SHA-256 over the names, one a line.
 */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Ketama, ketamaName } from '../../src/upstreams/ketama.js';
import { parseUpstreamUrl, type Upstream } from '../../src/upstreams/upstream.js';
import { upstreamAt } from './pools.js';

const everyone = (): boolean => true;

function urlUpstream(url: string): Upstream {
  const parsed = parseUpstreamUrl(url);
  if (parsed.kind === 'bad') throw new Error(parsed.reason);
  return parsed.upstream;
}

function digestOf(upstreams: readonly Upstream[], keyOf: (n: number) => string): string {
  const ring = new Ketama(upstreams);
  const names = Array.from({ length: 10_000 }, (_, n) => {
    const upstream = upstreams[ring.pick(keyOf(n), everyone)];
    return upstream === undefined ? '' : ketamaName(upstream);
  });
  return createHash('sha256').update(names.join('\n')).digest('hex');
}

const sessionKey = (n: number): string => `session-${n}`;
const plain = (count: number): Upstream[] => Array.from({ length: count }, (_, n) => upstreamAt(n));

describe('G5 ketama', () => {
  it.each([
    [3, 'b383fa6f383689780ba4d8df3ace5f587cff58c8a59d8d8e5910c0a4e957716b'],
    // 40 × 49 / 49 is 39.99… in floating point: a point less, and other clients would disagree.
    [49, '5fe6912ba5c68abd096c53351e40ad7f22426aa6fa727fcae93354c62db49e2e'],
    [300, 'd13473b95a07ab4c5ce5779617d3c198fb4eab2405a9cf3dfb419279b247be4b'],
  ])('chooses among %i exits what uhashring chooses, for 10,000 sessions', (count, digest) => {
    expect(digestOf(plain(count), sessionKey)).toBe(digest);
  });

  it('does so by weight, and for logins', () => {
    const weighted = [1, 2, 4].map((weight, n) => upstreamAt(n, { weight }));
    expect(digestOf(weighted, sessionKey)).toBe(
      'c5a471f97ba9ed5a984311dac2bc5d5eb62dd4e0785324697e4990db2b3835d2',
    );
    const users = Array.from({ length: 20 }, (_, n) =>
      urlUpstream(`http://user-${n}:pw@vendor.example:7777`),
    );
    expect(digestOf(users, (n) => `https://shop.example/ü?${n}`)).toBe(
      '38996d5db3eaf6a012cbb991eaee6379f4f2fd961bf6149223edd2ef847cb19c',
    );
  });

  it('takes the next on the ring where the first may not be used, and moves no other key', () => {
    const upstreams = plain(10);
    const ring = new Ketama(upstreams);
    const before = Array.from({ length: 2000 }, (_, n) => ring.pick(sessionKey(n), everyone));
    const after = before.map((_, n) => ring.pick(sessionKey(n), (index) => index !== 4));
    before.forEach((index, n) => {
      if (index === 4) expect(after[n]).not.toBe(4);
      else expect(after[n]).toBe(index);
    });
    expect(before.filter((index) => index === 4).length).toBeGreaterThan(50);
    expect(ring.pick('x', () => false)).toBe(-1);
    expect(new Ketama([]).pick('x', everyone)).toBe(-1);
  });

  it.each([
    ['http://10.0.0.1:3128', '10.0.0.1:3128'],
    ['http://me:pw@h:1', 'me@h:1'],
    ['https://me:pw@h:1', 'https://me@h:1'],
    ['http://[::1]:8080', '[::1]:8080'],
  ])('calls %s %s', (url, name) => {
    expect(ketamaName(urlUpstream(url))).toBe(name);
  });
});
