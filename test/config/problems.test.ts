import { describe, expect, it } from 'vitest';
import { formatPath, formatProblem } from '../../src/config/problems.js';
import { loadText, problemsOf } from './support.js';

describe('every kind of problem has its place and says what is wanted', () => {
  it.each([
    // Unknown settings, and those of later versions.
    ['timeouts: { dail: 5s }', '1 timeouts.dail: unknown setting; did you mean dial?'],
    ['timeouts:\n  dial: 5s\n  banana: 5s', '3 timeouts.banana: unknown setting'],
    ['lisen: {}', '1 lisen: unknown setting; did you mean listen?'],
    [
      'pools: { p: { upstreams: [ { url: "http://h.example:1", wieght: 2 } ] } }',
      '1 pools.p.upstreams[0].wieght: unknown setting; did you mean weight?',
    ],
    [
      'listen: { proxy: [ { at: "127.0.0.1:1", sesion: a } ] }',
      '1 listen.proxy[0].sesion: unknown setting; did you mean session?',
    ],
    [
      'routes: [ { match: { hosts: a.example } } ]',
      '1 routes[0].match.hosts: unknown setting; did you mean host?',
    ],
    ['interception: { trust: [] }', '1 interception: is not supported in this version'],
    [
      'pools: { p: { upstreams: [ { url: "http://a:b@h:1", credential: "vault:x" } ] } }',
      '1 pools.p.upstreams[0].url: the login is given twice: with the upstream and by credential',
    ],
    [
      'pools: { p: { upstreams: [ { list: "http://h/l", credential: "vault:x" } ] } }',
      '1 pools.p.upstreams[0].list: with a credential a list comes by https:// only: whoever changes it on the way would be sent the login',
    ],
    [
      'pools: { p: { upstreams: [ { url: "http://h:1", credential: dc } ] } }',
      '1 pools.p.upstreams[0].credential: expected vault:KEY with the key of a credential in the vault',
    ],
    ['routes: [ { intercept: true } ]', '1 routes[0].intercept: is not supported in this version'],
    [
      'pools: { p: { sharing: ring } }',
      '1 pools.p.sharing: ring needs state.kind: redis, where gateways find each other',
    ],
    ['pools: { p: { sharing: modulo } }', '1 pools.p.sharing: modulo needs cluster.index and cluster.count'],
    [
      'pools: { p: { on_redis_loss: fail } }',
      '1 pools.p.on_redis_loss: means nothing without state.kind: redis',
    ],
    [
      'pools: { p: { on_redis_loss: other } }',
      '1 pools.p.on_redis_loss: expected shard, fail or reserve:POOL',
    ],
    ['pools: { p: { partition: by_site_group } }', '1 pools.p.partition: needs site_groups'],
    [
      'pools: { p: { site_groups: [ { name: a, sites: [www.x.example] }, { name: b, sites: x.example } ] } }',
      '1 pools.p.site_groups[1].sites: x.example is in a group already',
    ],
    ['cluster: { index: 1 }', '1 cluster.index: needs cluster.count, the number of gateways'],
    ['cluster: { index: 2, count: 2 }', '1 cluster.index: is counted from 0 and less than cluster.count'],
    [
      'pools: { p: { limits: { spacing: often } } }',
      "1 pools.p.limits.spacing: expected a time such as '2s', or 'auto'",
    ],
    ['pools: { p: { cost: { per_gb: -1 } } }', '1 pools.p.cost.per_gb: expected an amount from 0'],
    ['routes: [ { escalate: true } ]', '1 routes[0].escalate: expected rules such as { block_rate: 0.3 }'],
    [
      'pools: { p: { upstreams: [ { template: "http://u:p@h:1", exits: 5 } ] } }',
      '1 pools.p.upstreams[0].template: the login of a template holds {session}, or its exits would be one',
    ],
    [
      'pools: { p: { upstreams: [ { url: "http://h:1", exits: 5 } ] } }',
      '1 pools.p.upstreams[0]: exits belongs to template',
    ],
    [
      'pools: { p: { upstreams: [ { file: empty, refresh: 5m } ] } }',
      '1 pools.p.upstreams[0]: refresh and allow belong to list',
    ],
    [
      'pools: { p: { upstreams: [ { list: "ftp://h/x" } ] } }',
      '1 pools.p.upstreams[0].list: the URL of a list begins with http:// or https://',
    ],
    [
      'pools: { p: { upstreams: [ { list: "http://h/x", allow: "nonsense/" } ] } }',
      /^1 pools\.p\.upstreams\[0\]\.allow.*: expected an exception/,
    ],
    [
      'clients: [ { name: a, password: "vault:x" } ]',
      '1 clients[0].password: vault: is for credential of upstreams only; here env:NAME, file:path or the value are expected',
    ],
    ['bans: { cap: 1h }', '1 bans.cap: unknown setting; there are two: site_cap and transport_cap'],
    // Values.
    [
      'timeouts: { dial: banana }',
      "1 timeouts.dial: expected a duration such as '30s', '5m', '1h' or '250ms', or a number of seconds",
    ],
    ['timeouts: { dial: 0s }', '1 timeouts.dial: must be longer than 0'],
    [
      'timeouts: { dial: [1] }',
      "1 timeouts.dial: expected a duration such as '30s', '5m', '1h' or '250ms', or a number of seconds",
    ],
    ['timeouts: { drain: 99d }', '1 timeouts.drain: is larger than is sensible'],
    ['limits: { head: 12 }', '1 limits.head: expected 1KiB to 1MiB'],
    [
      'limits: { head: much }',
      "1 limits.head: expected a size such as '64KiB' or '1MB', or a number of bytes",
    ],
    ['limits: { connections: many }', "1 limits.connections: expected a number or 'auto'"],
    ['bans: { jitter: 2 }', '1 bans.jitter: expected a share from 0 to 1, such as 0.2'],
    ['retry: { retries: 1.5 }', '1 retry.retries: expected a whole number from 0 to 20'],
    ['log: { level: loud }', '1 log.level: expected one of debug, info, warn, error, silent'],
    ['log: { redact: password }', /^1 log\.redact: expected one of clientAddress/],
    [
      'clients: [ { name: a, password: x, limits: { requests: 5/fortnight } } ]',
      "1 clients[0].limits.requests: expected a rate such as '600/min' or '10/s'",
    ],
    [
      'clients: [ { name: a, password: x, allow_from: [ 10.0.0.0/33 ] } ]',
      "1 clients[0].allow_from[0]: expected an address or a range such as '10.20.0.0/16'",
    ],
    ['clients: [ { password: x } ]', /^1 clients\[0\]\.name: is missing; expected a name/],
    ['clients: [ { name: "a+b", password: x } ]', /^1 clients\[0\]\.name: expected a name/],
    ['clients: [ { name: a, password: 5 } ]', /^1 clients\[0\]\.password: expected a password: env:NAME/],
    ['listen: { proxy: ":8080" }', /^1 listen\.proxy: expected an address and port/],
    ['listen: { proxy: [] }', '1 listen.proxy: needs at least one listener'],
    [
      'listen: { admin: 8081 }',
      "1 listen.admin: expected an address and port such as '127.0.0.1:8081', 'unix:/path', or 'off'",
    ],
    ['targets: { allow: [ "10.0.0.0/99" ] }', /^1 targets\.allow\[0\]: expected an exception such as/],
    ['routes: []', /^1 routes: needs at least one route/],
    [
      'routes: [ { match: { path: catalogue } } ]',
      "1 routes[0].match.path: expected a path prefix that begins with '/'",
    ],
    [
      'routes: [ { statuses: { suspect: [ 42 ] } } ]',
      '1 routes[0].statuses.suspect[0]: expected a whole number from 100 to 599',
    ],
    ['sessions: { header: "X Session" }', /^1 sessions\.header: expected the name of a header/],
    ['pools: [ ]', '1 pools: expected pools by name'],
    ['pools: { "a b": {} }', /^1 pools\.\(…\): expected a name/],
    [
      'pools: { p: { upstreams: [ {} ] } }',
      '1 pools.p.upstreams[0]: expected exactly one of file, url, list and template',
    ],
    [
      'pools: { p: { upstreams: [ "http://h.example:1" ] } }',
      /^1 pools\.p\.upstreams\[0\]: expected an upstream such as/,
    ],
    ['timeouts: 5s', /^1 timeouts: expected object/],
    // What is pointed to.
    [
      'clients: [ { name: a, password: env:NOPE } ]',
      '1 clients[0].password: the environment variable NOPE is not set',
    ],
    [
      'clients: [ { name: a, password: env:EMPTY } ]',
      '1 clients[0].password: the environment variable EMPTY is empty',
    ],
    [
      'clients: [ { name: a, password: "env:not a name" } ]',
      '1 clients[0].password: expected the name of a variable after env:',
    ],
    [
      'clients: [ { name: a, password: file:nope } ]',
      /^1 clients\[0\]\.password: the file \/.*\/nope does not exist$/,
    ],
    [
      'clients: [ { name: a, password: file:empty } ]',
      /^1 clients\[0\]\.password: the file \/.*\/empty is empty$/,
    ],
    [
      'pools: { p: { upstreams: [ { file: nope.txt } ] } }',
      /^1 pools\.p\.upstreams\[0\]\.file: the file \/.*\/nope\.txt does not exist$/,
    ],
    [
      'pools: { p: { upstreams: [ { file: . } ] } }',
      /^1 pools\.p\.upstreams\[0\]\.file: the file \/.* is a folder$/,
    ],
    ['pools: { p: { upstreams: [ { url: "htp://h.example:1" } ] } }', /^1 pools\.p\.upstreams\[0\]\.url: /],
    [
      'pools: { p: { upstreams: [ { url: "http://h.example:99999" } ] } }',
      /^1 pools\.p\.upstreams\[0\]\.url: /,
    ],
    [
      'pools: { p: { upstreams: [ { url: "https://h.example:1", tls: { ca: empty } } ] } }',
      /^1 pools\.p\.upstreams\[0\]\.tls\.ca: the file .* holds no certificate/,
    ],
    [
      'pools: { p: { upstreams: [ { url: "https://h.example:1", tls: { ca: nope } } ] } }',
      /^1 pools\.p\.upstreams\[0\]\.tls\.ca: the file .* does not exist/,
    ],
    // Between settings.
    [
      'pools: { dc: {} }\nroutes: [ { pools: [ dcc ] } ]',
      '2 routes[0].pools[0]: no pool is named dcc (there is dc); did you mean dc?',
    ],
    [
      'routes: [ { match: { client: a } } ]',
      '1 routes[0].match.client: no client is named a (there is none)',
    ],
    [
      'routes: [ { name: a }, { name: a } ]',
      '1 routes[1].name: another route has this name already (number 0)',
    ],
    ['routes: [ { name: route-1 }, {} ]', '1 routes[1].name: another route has this name already (number 0)'],
    [
      'clients: [ { name: a, password: x }, { name: a, password: y } ]',
      '1 clients[1].name: another client has this name already (number 0)',
    ],
    [
      'clients: [ { name: anonymous, password: x } ]',
      /^1 clients\[0\]\.name: anonymous is the name of requests without a login/,
    ],
    [
      'clients: [ { name: a, password: x, defaults: { pool: nope } } ]',
      /^1 clients\[0\]\.defaults\.pool: no pool is named nope/,
    ],
    [
      'listen: { proxy: [ { at: "127.0.0.1:1", client: a } ] }',
      '1 listen.proxy[0].client: no client is named a (there is none)',
    ],
    [
      'listen: { proxy: [ { at: "127.0.0.1:1", route: a } ] }',
      '1 listen.proxy[0].route: no route is named a (there is route-0)',
    ],
    [
      'listen: { proxy: "127.0.0.1:1", admin: "127.0.0.1:1" }',
      '1 listen.admin: another listener has this address already',
    ],
    [
      'listen: { proxy: [ "[::1]:1", "[::1]:1" ] }',
      '1 listen.proxy[1]: another listener has this address already',
    ],
  ])('%s', (text, expected) => {
    const found = problemsOf(text, { env: { EMPTY: '' }, files: { empty: '\n' } });
    expect(found).toContainEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
  });
});

it('all problems come at once, in the order of the file', () => {
  const found = problemsOf(`listen:
  proxy: [ "127.0.0.1:1", { at: nowhere } ]
clients:
  - { name: a, password: env:NOPE, limits: { requests: often } }
  - { name: a, password: x, allow_from: [ 300.0.0.0/8 ] }
pools:
  dc:
    strategy: best
    upstreams:
      - { url: "htp://u:p@h:1" }
      - { file: nope.txt }
routes:
  - { pools: [ dcc ] }
timeouts: { dail: 5s, dial: soon }
interception: {}
`);
  expect(found.map((each) => each.split(': ')[0])).toEqual([
    '2 listen.proxy[1].at',
    '4 clients[0].limits.requests',
    '4 clients[0].password',
    '5 clients[1].allow_from[0]',
    '5 clients[1].name',
    '8 pools.dc.strategy',
    '10 pools.dc.upstreams[0].url',
    '11 pools.dc.upstreams[1].file',
    '13 routes[0].pools[0]',
    '14 timeouts.dial',
    '14 timeouts.dail',
    '15 interception',
  ]);
});

it('flags and variables are named as the source of their problems', () => {
  const loaded = loadText('', {
    env: { TURNPIKE_LOG_LEVEL: 'loud' },
    overrides: { listen: 'x', upstreams: ['/nope.txt'], allowTargets: ['?'], client: 'a' },
  });
  const found = loaded.kind === 'problems' ? loaded.problems : [];
  expect(found.map(({ path, origin }) => `${path} from ${origin}`).sort()).toEqual([
    'clients[0].password from --client',
    'listen.proxy from --listen',
    'log.level from TURNPIKE_LOG_LEVEL',
    'pools.default.upstreams[0].file from --upstreams',
    'targets.allow[0] from --allow-target',
  ]);
  expect(found.map((problem) => formatProblem(problem, 'c.yaml'))).toContain(
    'pools.default.upstreams[0].file: the file /nope.txt does not exist (from --upstreams)',
  );
});

it('is written with file and line where they are known', () => {
  const problem = { path: 'a.b', message: 'is wrong', line: 3 };
  expect(formatProblem(problem, 'c.yaml')).toBe('c.yaml:3: a.b: is wrong');
  expect(formatProblem({ ...problem, line: null }, 'c.yaml')).toBe('c.yaml: a.b: is wrong');
  expect(formatProblem({ ...problem, line: null, path: '' }, null)).toBe('is wrong');
  expect(formatPath(['a', 0, 'b', 'http://u:p@h'])).toBe('a[0].b.(…)');
});
