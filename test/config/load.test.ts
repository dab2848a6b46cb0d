import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { configOf, loadText, problemsOf, temporaryFolder, warningsOf } from './support.js';

describe('without a file', () => {
  it('there is one pool, one route, and both listeners are on loopback', () => {
    const loaded = loadConfig({ file: null, overrides: {}, env: {} });
    expect(loaded.kind === 'config' && loaded.config).toMatchObject({
      file: null,
      listeners: [{ at: { host: '127.0.0.1', port: 8080 }, label: '127.0.0.1:8080', client: null }],
      admin: { host: '127.0.0.1', port: 8081 },
      pools: [
        {
          name: 'default',
          sources: [],
          strategy: 'round_robin',
          hashOn: 'session',
          algorithm: 'multi_probe',
          slotsPerExit: Infinity,
        },
      ],
      routes: [{ match: {} }],
      clients: [],
      allowedTargets: [],
    });
  });

  it('flags say the rest', () => {
    const folder = temporaryFolder();
    const [a, b] = ['a.txt', 'b.txt'].map((name) => join(folder, name));
    for (const file of [a, b]) writeFileSync(file ?? '', 'http://127.0.0.1:1\n');
    const loaded = loadConfig({
      file: null,
      overrides: {
        upstreams: [a ?? '', b ?? ''],
        listen: '0.0.0.0:3128',
        admin: 'off',
        allowTargets: ['127.0.0.1:8000'],
        client: 'me',
        logLevel: 'debug',
        logFile: join(folder, 'log'),
      },
      env: { TURNPIKE_CLIENT_PASSWORD: 'secret', TURNPIKE_LISTEN: '127.0.0.1:1' },
    });
    expect(loaded.kind === 'config' && loaded.config).toMatchObject({
      listeners: [{ label: '0.0.0.0:3128' }],
      admin: null,
      allowedTargets: ['127.0.0.1:8000'],
      clients: [{ name: 'me' }],
      pools: [
        {
          sources: [
            { kind: 'file', file: a },
            { kind: 'file', file: b },
          ],
        },
      ],
      log: { level: 'debug', file: join(folder, 'log') },
    });
  });
});

describe('a file', () => {
  it('gives plain frozen values in milliseconds and bytes', () => {
    const config = configOf(
      `
timeouts: { dial: 250ms, exchange: 1h }
limits: { head: 32KiB }
clients: [ { name: a, password: env:PW, limits: { requests: 600/min } } ]
`,
      { env: { PW: 'x' } },
    );
    expect(config.timeouts).toMatchObject({ dial: 250, exchange: 3_600_000, tls: 5000 });
    expect(config.limits.head).toBe(32_768);
    expect(config.clients[0]?.limits.requests).toMatchObject({ count: 600, perMs: 60_000 });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.timeouts)).toBe(true);
    expect(Object.isFrozen(config.clients[0]?.limits)).toBe(true);
  });

  it('may be empty, or have empty settings', () => {
    expect(configOf('').listeners).toHaveLength(1);
    expect(configOf('# nothing\n').listeners).toHaveLength(1);
    expect(configOf('clients:\nroutes:\npools:\nlisten:\n  proxy:\n').listeners).toHaveLength(1);
  });

  it('names other files relative to itself', () => {
    const config = configOf(
      'pools: { default: { upstreams: [ { file: p.txt } ] } }\nlog: { file: ./x.log }',
      {
        files: { 'p.txt': '' },
      },
    );
    const folder = (config.file ?? '').replace(/\/turnpike\.yaml$/, '');
    expect(config.pools[0]?.sources[0]).toMatchObject({ kind: 'file', file: `${folder}/p.txt` });
    expect(config.log.file).toBe(`${folder}/x.log`);
  });

  it('is named by TURNPIKE_CONFIG when no flag does', () => {
    const file = join(temporaryFolder(), 'c.yaml');
    writeFileSync(file, 'timeouts: { dial: 9s }');
    const loaded = loadConfig({ file: null, overrides: {}, env: { TURNPIKE_CONFIG: file } });
    expect(loaded.kind === 'config' && loaded.config.timeouts.dial).toBe(9000);
  });

  it('gives way to variables, and variables to flags', () => {
    const text = 'listen: { proxy: 127.0.0.1:1, admin: 127.0.0.1:2 }\nlog: { level: error }';
    const env = { TURNPIKE_LISTEN: '127.0.0.1:3', TURNPIKE_ADMIN_LISTEN: 'off', TURNPIKE_LOG_LEVEL: 'warn' };
    const byEnv = configOf(text, { env });
    expect([byEnv.listeners[0]?.label, byEnv.admin, byEnv.log.level]).toEqual(['127.0.0.1:3', null, 'warn']);
    const byFlag = configOf(text, {
      env,
      overrides: { listen: '127.0.0.1:4', admin: '127.0.0.1:5', logLevel: 'info' },
    });
    expect([byFlag.listeners[0]?.label, byFlag.admin?.port, byFlag.log.level]).toEqual([
      '127.0.0.1:4',
      5,
      'info',
    ]);
    expect(configOf(text, { env: { TURNPIKE_DATA_DIR: '/var/lib/t' } }).dataDir).toBe('/var/lib/t');
  });

  it('takes several listeners, each with its own defaults', () => {
    const config = configOf(`
listen: { proxy: [ "127.0.0.1:1", { at: "127.0.0.1:2", session: tab-1, country: DE, ttl: 1m, tags: fast } ] }`);
    expect(config.listeners.map((each) => each.defaults)).toEqual([
      {},
      { session: 'tab-1', ttlMs: 60_000, country: 'de', tags: ['fast'] },
    ]);
  });

  it('takes one or many where a route matches', () => {
    const { match } =
      configOf('routes: [ { match: { site: a.example, port: [80, 443], method: GET } } ]').routes[0] ?? {};
    expect(match).toEqual({ site: ['a.example'], port: [80, 443], method: ['GET'] });
  });
});

describe('secrets', () => {
  it('come from variables, files, or stand there', () => {
    const config = configOf(
      'clients: [ { name: a, password: env:A }, { name: b, password: file:pw }, { name: c, password: literal } ]',
      { env: { A: 'from env' }, files: { pw: 'from file\n' } },
    );
    expect(config.clients.map((client) => client.password?.reveal())).toEqual([
      'from env',
      'from file',
      'literal',
    ]);
    expect(`${inspect(config, { depth: 9 })} ${JSON.stringify(config)}`).not.toMatch(
      /from env|from file|literal/,
    );
  });

  it('in URLs are not printed either', () => {
    const config = configOf('pools: { p: { upstreams: [ { url: "http://u:CANARY@h.example:1" } ] } }');
    const [source] = config.pools[0]?.sources ?? [];
    expect(source?.kind === 'url' && source.url.reveal()).toBe('http://u:CANARY@h.example:1');
    expect(`${inspect(config, { depth: 9 })} ${JSON.stringify(config)}`).not.toContain('CANARY');
  });

  it('that stand there are warned of, with their place', () => {
    const text = `clients:
  - name: a
    password: literal
pools: { default: { upstreams: [ { url: "http://u:p@h.example:1" }, { url: "http://h.example:1" }, { url: env:U } ] } }`;
    expect(warningsOf(text, { env: { U: 'http://u:p@h.example:2' } })).toEqual([
      expect.stringMatching(/^3 clients\[0\]\.password: a password stands in the configuration/),
      expect.stringMatching(/^4 pools\.default\.upstreams\[0\]\.url: a password stands in the configuration/),
    ]);
  });
});

describe('warnings', () => {
  it.each([
    [
      'listen: { admin: 0.0.0.0:8081 }',
      /^1 listen\.admin: tokens and answers travel in clear to this address/,
    ],
    ['pools: { a: {}, b: {} }\nroutes: [ { pools: a } ]', /^1 pools\.b: no route uses this pool/],
    [
      'routes: [ { match: { site: www.shop.example } } ]',
      /^1 routes\[0\]\.match\.site: .* shop\.example; for one host write host/,
    ],
    ['{}', /pools\.default: has no upstreams/],
    [
      'pools: { default: { upstreams: [ { url: "https://h.example:1", tls: { verify: false } } ] } }',
      /^1 pools\.default\.upstreams\[0\]\.tls\.verify: the certificate/,
    ],
  ])('%s', (text, warning) => expect(warningsOf(text)).toContainEqual(expect.stringMatching(warning)));
});

describe('a file that can not be read', () => {
  it('is one problem', () => {
    const folder = temporaryFolder();
    const missing = loadConfig({ file: join(folder, 'no.yaml'), overrides: {}, env: {} });
    expect(missing).toMatchObject({
      kind: 'problems',
      problems: [{ path: '', message: 'the file does not exist' }],
    });
    const isFolder = loadConfig({ file: folder, overrides: {}, env: {} });
    expect(isFolder).toMatchObject({ problems: [{ message: 'the file is a folder' }] });
  });

  it('is told from one that may not be read', () => {
    const file = join(temporaryFolder(), 'c.yaml');
    writeFileSync(file, '');
    chmodSync(file, 0o000);
    const loaded = loadConfig({ file, overrides: {}, env: {} });
    // Root reads everything.
    if (process.getuid?.() === 0) expect(loaded.kind).toBe('config');
    else expect(loaded).toMatchObject({ problems: [{ message: 'the file may not be read by this user' }] });
  });

  it('is one of no YAML, by line', () => {
    expect(problemsOf('a: 1\nb: [1, 2\nc: 3\n')[0]).toMatch(/^\d : not valid YAML: /);
    expect(problemsOf('listen: {}\nlisten: {}\n')).toEqual(['2 : not valid YAML: the same setting twice']);
    expect(problemsOf('a:\n\t- 1\n')[0]).toContain('a tab in the indentation');
    expect(problemsOf('- 1\n- 2\n')[0]).toContain('expected settings by name');
    expect(problemsOf('just text')[0]).toContain('expected settings by name');
    expect(problemsOf('a: 1\n---\nb: 1\n')[0]).toContain('more than one document');
  });

  it('is one that unfolds without end', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 9; i++)
      lines.push(
        `a${i}: &a${i} [${Array(9)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    expect(problemsOf(lines.join('\n'))).toEqual(['1 : not valid YAML: too many aliases']);
  });
});

it('reads the environment of the process when none is given', () => {
  expect(loadText('').kind).toBe('config');
  expect(loadConfig({ file: null, overrides: { client: 'a' } }).kind).toBe('problems');
});
