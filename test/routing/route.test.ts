import { describe, expect, it } from 'vitest';
import { parseAbsoluteForm, parseAuthority } from '../../src/protocol/target.js';
import type { Target } from '../../src/protocol/target.js';
import { compileHostPattern, matchRoute, withRouteFilter } from '../../src/routing/route.js';
import type { Route, RouteAsk, RouteMatch } from '../../src/routing/route.js';

const anything: RouteMatch = {
  sites: [],
  hosts: [],
  ports: [],
  paths: [],
  methods: [],
  clients: [],
  tags: [],
};

function routeOf(label: string, match: Partial<RouteMatch>): Route {
  return {
    label,
    match: { ...anything, ...match },
    pools: ['dc'],
    retries: 2,
    timeoutMs: 30_000,
    retryUnsafe: false,
    onClientFin: 'finish',
    expose: 'id',
    onExhausted: 'next_tier',
    escalate: null,
    costCeiling: Infinity,
    statuses: { suspect: [403], throttled: [429], unclear: [503] },
    filter: null,
  };
}

function targetOf(text: string): Target {
  const result = text.includes('://') ? parseAbsoluteForm(text) : parseAuthority(text);
  if (result.kind === 'refused') throw new Error(result.failure.detail);
  return result.target;
}

const get = (url: string, rest: Partial<RouteAsk> = {}): RouteAsk => {
  const target = targetOf(url);
  return { target, method: 'GET', path: target.path, client: 'crawler', clientTags: [], ...rest };
};
const connect = (hostPort: string): RouteAsk => {
  return { target: targetOf(hostPort), method: 'CONNECT', path: null, client: 'crawler', clientTags: [] };
};

const isMatch = (match: Partial<RouteMatch>, ask: RouteAsk): boolean =>
  matchRoute([routeOf('r', match)], ask) !== null;

describe('G12 routes', () => {
  it('are tried in order, and the first that matches wins', () => {
    const routes = [routeOf('shop', { sites: ['shop.example'] }), routeOf('all', {}), routeOf('never', {})];
    expect(matchRoute(routes, get('http://www.shop.example/'))?.label).toBe('shop');
    expect(matchRoute(routes, get('http://other.example/'))?.label).toBe('all');
    expect(matchRoute([], get('http://a.test/'))).toBeNull();
    expect(matchRoute(routes.slice(0, 1), get('http://other.example/'))).toBeNull();
  });

  it.each<[Partial<RouteMatch>, RouteAsk, boolean]>([
    [{ sites: ['shop.example'] }, get('http://SHOP.example/'), true],
    [{ sites: ['shop.example'] }, get('http://a.b.shop.example/'), true],
    [{ sites: ['shop.example'] }, get('http://evil-shop.example/'), false],
    [{ sites: ['a.example', 'shop.example'] }, connect('shop.example:443'), true],
    [{ hosts: ['*.shop.example'] }, get('http://www.shop.example./'), true],
    [{ hosts: ['*.shop.example'] }, get('http://shop.example/'), false],
    [{ hosts: ['*.shop.example', 'shop.example'] }, get('http://shop.example/'), true],
    [{ hosts: ['*.example.com'] }, get('http://evil-example.com/'), false],
    [{ hosts: ['*'] }, get('http://a.test/'), true],
    [{ hosts: ['127.0.0.1'] }, get('http://0x7f.1/'), true],
    [{ hosts: ['not a pattern'] }, get('http://a.test/'), false],
    [{ ports: [443, 8443] }, connect('a.test:8443'), true],
    [{ ports: [443] }, get('http://a.test/'), false],
    [{ ports: [80] }, get('http://a.test/'), true],
    [{ methods: ['POST'] }, get('http://a.test/'), false],
    [{ methods: ['GET', 'HEAD'] }, get('http://a.test/'), true],
    [{ methods: ['CONNECT'] }, connect('a.test:443'), true],
    [{ clients: ['crawler'] }, get('http://a.test/'), true],
    [{ clients: ['crawler'] }, get('http://a.test/', { client: 'other' }), false],
    [{ tags: ['bulk'] }, get('http://a.test/', { clientTags: ['slow', 'bulk'] }), true],
    [{ tags: ['bulk', 'other'] }, get('http://a.test/', { clientTags: ['bulk'] }), true],
    [{ tags: ['bulk'] }, get('http://a.test/', { clientTags: ['bul'] }), false],
    [{ tags: ['bulk'] }, get('http://a.test/'), false],
    [{ paths: ['/api/'] }, get('http://a.test/api/x?y'), true],
    [{ paths: ['/api/'] }, get('http://a.test/apix'), false],
    [{ paths: ['/x', '/api'] }, get('http://a.test/api?x'), true],
    [{ paths: ['/'] }, connect('a.test:443'), false],
    [{ sites: ['a.test'], ports: [80], methods: ['GET'] }, get('http://a.test/'), true],
    [{ sites: ['a.test'], ports: [81], methods: ['GET'] }, get('http://a.test/'), false],
  ])('%j', (match, ask, expected) => {
    expect(isMatch(match, ask)).toBe(expected);
  });

  it('answer the same the second time, from compiled patterns', () => {
    const route = routeOf('r', { hosts: ['*.a.test'] });
    const ask = get('http://x.a.test/');
    expect([matchRoute([route], ask), matchRoute([route], ask)]).toEqual([route, route]);
  });

  it('pass the compiler of patterns on', () => {
    expect(compileHostPattern('*.a.test')?.('b.a.test')).toBe(true);
  });
});

describe('G12 the filter of a route', () => {
  const asked = { country: null, city: null, asn: null, tags: [], upstream: null, pool: 'dc' };

  it('fills in what the request leaves open, field by field', () => {
    const filter = { country: 'de', city: null, asn: 64_500, tags: ['dc'] };
    expect(withRouteFilter({ ...asked, country: 'fr' }, filter)).toEqual({
      ...{ country: 'fr', city: null, asn: 64_500, tags: ['dc'], upstream: null, pool: 'dc' },
    });
    expect(withRouteFilter({ ...asked, tags: ['fast'] }, filter)).toMatchObject({
      country: 'de',
      tags: ['fast'],
    });
  });

  it('costs nothing where there is none', () => {
    expect(withRouteFilter(asked, null)).toBe(asked);
  });
});
