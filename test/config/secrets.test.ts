import fc from 'fast-check';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadText, problemsOf, temporaryFolder } from './support.js';

describe('no problem repeats a secret', () => {
  const canary = 'CANARY/@x:7';
  const texts = [
    `clients: [ { name: a, password: { ${canary}: 1 } } ]`,
    `clients: [ { name: a, password: [ "${canary}" ] } ]`,
    `clients: [ { name: a, passwort: "${canary}" } ]`,
    `clients: [ { name: a, password: "env:${canary}" } ]`,
    `clients: [ { name: a, password: "${canary}", limits: { requests: "${canary}" } } ]`,
    `clients: [ "a:${canary}" ]`,
    ...['htp', 'http', 'https', 'socks5', 'direct', ''].map(
      (scheme) => `pools: { p: { upstreams: [ { url: "${scheme}://u:${canary}@h .example:0" } ] } }`,
    ),
    `pools: { p: { upstreams: [ "http://u:${canary}@h" ] } }`,
    `pools: { p: { upstreams:\n  - http://u:${canary}: x@h\n } }`,
    `pools:\n  p:\n    upstreams:\n      - http://u:${canary}: h\n`,
    `pools:\n  "http://u:${canary}@h": {}\n`,
    `routes: [ { pools: [ "http://u:${canary}@h" ] } ]`,
    `listen: { proxy: "http://u:${canary}@h:1" }`,
    `targets: { allow: "u:${canary}@h" }`,
    `"${canary}`,
    `clients: [ { name: a, password: %${canary} } ]`,
    `clients:\n - name: a\n   password: @${canary}\n`,
    `clients:\n - name: a\n   password: "\\q${canary}"\n`,
    `clients:\n - name: a\n   password: !${canary} x\n`,
    `clients:\n - name: a\n   password: *${canary}\n`,
    `clients:\n - name: a\n   password: a: ${canary}\n`,
    `clients:\n - name: a\n  password: ${canary}\n ${canary}\n`,
    canary,
    `- ${canary}`,
  ];

  it.each(texts)('%j', (text) => {
    const loaded = loadText(text, { env: { URL: `http://u:${canary}@:` } });
    expect(JSON.stringify(loaded)).not.toContain('CANARY');
  });

  it('nor what a variable or a file holds', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'f'), `htp://u:${canary}@h`);
    const env = { URL: `htp://u:${canary}@h` };
    const text = `pools: { p: { upstreams: [ { url: env:URL }, { url: "file:${folder}/f" } ] } }`;
    const found = problemsOf(text, { env });
    expect(found).toHaveLength(2);
    expect(found.join()).not.toContain('CANARY');
  });
});

describe('whatever stands in a file', () => {
  const keys = fc.constantFrom(
    'listen',
    'proxy',
    'admin',
    'clients',
    'name',
    'password',
    'pools',
    'default',
    'upstreams',
    'url',
    'file',
    'routes',
    'match',
    'site',
    'limits',
    'timeouts',
    'dial',
    '__proto__',
    'constructor',
    'toString',
  );
  const leaves = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom('127.0.0.1:1', '5s', 'a', 'env:X', 'off'),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      leaves,
      fc.dictionary(keys, tie('tree'), { maxKeys: 6 }),
      fc.array(tie('tree'), { maxLength: 4 }),
    ),
  }));

  it('as settings, it is a configuration or a list of problems', () => {
    fc.assert(
      fc.property(fc.dictionary(keys, tree), (value) => {
        const loaded = loadText(JSON.stringify(value));
        if (loaded.kind === 'problems') expect(loaded.problems.length).toBeGreaterThan(0);
        expect({}).not.toHaveProperty('polluted');
      }),
      { numRuns: 400 },
    );
  });

  it('as text too', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(['config', 'problems']).toContain(loadText(text).kind);
      }),
      { numRuns: 300 },
    );
  });
});
