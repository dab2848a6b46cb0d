import { describe, expect, it } from 'vitest';
import { conflictText, passwordConflicts } from '../../src/upstreams/password-conflicts.js';
import { parseUpstreamUrl, type Upstream } from '../../src/upstreams/upstream.js';

function pool(name: string, ...urls: string[]) {
  const upstreams = urls.map((url): Upstream => {
    const parsed = parseUpstreamUrl(url, {});
    if (parsed.kind === 'bad') throw new Error(parsed.reason);
    return parsed.upstream;
  });
  return { name, upstreams, indexById: new Map(upstreams.map(({ id }, index) => [id, index])) };
}

describe('A12 one login with two passwords', () => {
  const first = pool('a', 'http://u:CANARY-1@h:1', 'http://u:same@h:2', 'http://h:3');
  const second = pool('b', 'http://u:same@h:2', 'http://other:x@h:1', 'http://u:CANARY-2@h:1', 'http://h:3');

  it('is found between pools, whichever is longer', () => {
    const [found, ...more] = passwordConflicts([first, second], 20);
    expect(more).toEqual([]);
    expect(found).toMatchObject({ label: 'http://h:1', pools: ['a', 'b'] });
    expect(passwordConflicts([second, first], 20)).toMatchObject([{ pools: ['b', 'a'] }]);
  });

  it('is told of so many times and no more', () => {
    const third = pool('c', 'http://u:CANARY-3@h:1');
    expect(passwordConflicts([first, second, third], 20)).toHaveLength(3);
    expect(passwordConflicts([first, second, third], 2)).toHaveLength(2);
  });

  it('names no password', () => {
    const text = passwordConflicts([first, second], 1).map(conflictText).join();
    expect(text).toMatch(/http:\/\/h:1 .* pool a .* pool b/);
    expect(text).not.toMatch(/CANARY|same@/);
  });

  it('is no matter within one pool', () => {
    expect(passwordConflicts([first], 20)).toEqual([]);
  });
});
