import { describe, expect, it } from 'vitest';
import { parseRedisUrl } from '../../src/config/state.js';
import { configOf, problemsOf } from './support.js';

const secret = { TURNPIKE_CLUSTER_SECRET: 'a secret of the fleet' };

describe('state', () => {
  it('is this process without a word about it', () => {
    expect(configOf('').state).toEqual({ kind: 'memory' });
  });

  it('S12 is one Redis by its URL', () => {
    const env = { ...secret, REDIS_URL: 'rediss://me:p%40ss@[::1]:7000/3' };
    const { state } = configOf('state: { kind: redis, url: env:REDIS_URL, prefix: mine }', { env });
    expect(state).toMatchObject({
      kind: 'redis',
      prefix: 'mine',
      place: { kind: 'single', nodes: [{ host: '::1', port: 7000 }], username: 'me', tls: true, db: 3 },
    });
    if (state.kind !== 'redis') return;
    expect(state.place.password?.reveal()).toBe('p@ss');
    expect(state.secret.reveal()).toBe(secret.TURNPIKE_CLUSTER_SECRET);
    expect(JSON.stringify(state)).not.toMatch(/p@ss|of the fleet/);
  });

  it('S12 is a cluster by its nodes, or Sentinels by their addresses', () => {
    const nodes = configOf('state: { kind: redis, nodes: ["a:1", "b:2"], tls: true }', { env: secret }).state;
    expect(nodes).toMatchObject({
      place: {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
        tls: true,
      },
    });
    const text = 'state: { kind: redis, sentinels: "a:1", primary: p, username: u, password: env:PW }';
    const sentinels = configOf(text, { env: { ...secret, PW: 'w' } }).state;
    expect(sentinels).toMatchObject({ place: { kind: 'sentinel', primary: 'p', username: 'u', db: 0 } });
  });

  it.each([
    ['kind: redis', 'state: redis needs one of url, nodes and sentinels'],
    ['kind: redis, url: "redis://a", nodes: ["a:1"]', 'state: redis needs one of url, nodes and sentinels'],
    ['kind: redis, url: "http://a"', 'state.url: expected redis://USER:PASSWORD@HOST:PORT/DB, or rediss://'],
    ['kind: redis, url: env:NONE', 'state.url: the environment variable NONE is not set'],
    ['kind: redis, url: "redis://a", password: x', 'state.password: stands in the url where there is one'],
    [
      'kind: redis, nodes: ["a:1"], password: env:NONE',
      'state.password: the environment variable NONE is not set',
    ],
    ['kind: redis, nodes: ["a:1"], secret: short', 'state.secret: needs at least 16 characters'],
    ['kind: redis, nodes: [7]', 'state.nodes'],
    ['kind: postgres', 'state.kind: expected one of memory, redis'],
  ])('{ %s } is refused', (text, problem) => {
    expect(problemsOf(`state: { ${text} }`, { env: secret }).join('\n')).toContain(problem);
  });

  it('needs the secret of the fleet', () => {
    expect(problemsOf('state: { kind: redis, url: "redis://a" }').join('\n')).toContain(
      'state.secret: the environment variable TURNPIKE_CLUSTER_SECRET is not set',
    );
  });

  it.each([
    'redis://',
    'redis://a/b',
    'redis://a/99999',
    'redis://a?x=1',
    'redis://%zz@a',
    'a:6379',
    'redis://a/2000',
  ])('%s is no URL of a Redis', (url) => {
    expect(parseRedisUrl(url)).toBeNull();
  });

  it('reads the shortest URL', () => {
    expect(parseRedisUrl('redis://a')).toMatchObject({
      ...{ nodes: [{ host: 'a', port: 6379 }], username: null, password: null, tls: false, db: 0 },
    });
  });
});
