import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { generatedFiles } from '../../src/cli/generate.js';
import { exampleYaml } from '../../src/config/example.js';
import { alternatives, inputSchema, knownKeysAt } from '../../src/config/json-schema.js';
import type { JsonSchema } from '../../src/config/json-schema.js';
import { makeCertificate } from '../support/real-origins.js';
import { configOf, loadText } from './support.js';

const root = resolve(import.meta.dirname, '../..');

/** Takes one # away from every line that is a setting commented out (`#key`), and leaves comments (`# Text`). */
const uncommented = (text: string): string => text.replace(/^(\s*)#(?! \S|$)/gm, '$1');

/** Of what excludes each other, one. */
const decided = (text: string): string =>
  text
    .replace('  proxy: 127.0.0.1:8080\n', '')
    .replace(/^ {2}url: env:DATABASE_URL\n/m, '')
    .replace(/^ {2}ca: \.\/db-ca\.pem\n/m, '')
    .replace(/^ {2}command:.*\n(?: {2,}- .*\n)*/m, '');

const certificate = await makeCertificate();

const surroundings = {
  env: {
    CRAWLER_PASSWORD: 'x',
    OPS_TOKEN: 'a token of good length',
    FEEDBACK_KEY: 'a key of good length',
    WEBHOOK_SECRET: 'a secret of good length',
  },
  files: {
    'proxies.txt': 'http://10.0.0.1:3128\n',
    'gateway.pem': certificate.cert,
    'gateway-key.pem': certificate.key,
    'admin.pem': certificate.cert,
    'admin-key.pem': certificate.key,
    'company-ca.pem': '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n',
  },
};

describe('the example file', () => {
  it.each([...generatedFiles()])('%s is committed as it is generated (npm run generate)', (name, text) => {
    expect(readFileSync(join(root, 'config', name), 'utf8')).toBe(text);
  });

  it('has nothing wrong, with nothing around it', () => {
    expect(loadText(exampleYaml()).kind).toBe('config');
  });

  it('means the same as an empty file', () => {
    const { file: _, dataDir: __, storage, ...example } = configOf(exampleYaml());
    const { file: ___, dataDir: ____, storage: other, ...empty } = configOf('');
    expect(example).toEqual(empty);
    // The file is in a folder of each.
    expect({ ...storage, path: '' }).toEqual({ ...other, path: '' });
  });

  it('has nothing wrong with its items written in', () => {
    const once = decided(uncommented(exampleYaml()));
    const config = configOf(once, surroundings);
    expect(config.clients).toHaveLength(1);
    expect(config.pools[0]?.sources.map((source) => source.kind)).toEqual([
      'file',
      'list',
      'template',
      'url',
    ]);
  });

  it('has nothing wrong with everything written in', () => {
    const twice = decided(uncommented(uncommented(exampleYaml())));
    expect(twice).not.toMatch(/^\s*#(?! |$)/m);
    configOf(twice, surroundings);
  });
});

/** Paths of all settings that a schema knows; lists and maps by name are looked into. */
function pathsIn(schema: JsonSchema, path: string): string[] {
  return alternatives(schema).flatMap((part) => {
    if (part.items !== undefined) return pathsIn(part.items, path);
    if (typeof part.additionalProperties === 'object') return pathsIn(part.additionalProperties, path);
    return Object.entries(part.properties ?? {}).flatMap(([name, inner]) => {
      const here = `${path}/${name}`;
      return [here, ...pathsIn(inner, here)];
    });
  });
}

function pathsOf(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsOf(item, path));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = `${path}/${name}`;
    return [here, ...pathsOf(inner, here)];
  });
}

describe('the schema', () => {
  it('shows every setting in the example', () => {
    const twice = uncommented(uncommented(exampleYaml())).replace('  proxy: 127.0.0.1:8080\n', '');
    const example = parse(twice);
    // Pools have names of their own; what is below them counts.
    const shown = new Set(pathsOf({ ...example, pools: Object.values(example.pools) }, ''));
    expect([...new Set(pathsIn(inputSchema(), ''))].filter((path) => !shown.has(path))).toEqual([]);
  });

  it('explains every setting', () => {
    const silent = (schema: JsonSchema, path: string): string[] =>
      alternatives(schema).flatMap((part) => {
        if (part.items !== undefined) return silent(part.items, path);
        if (typeof part.additionalProperties === 'object') return silent(part.additionalProperties, path);
        return Object.entries(part.properties ?? {}).flatMap(([name, inner]) => [
          ...(inner.description === undefined ? [`${path}/${name}`] : []),
          ...silent(inner, `${path}/${name}`),
        ]);
      });
    expect(silent(inputSchema(), '')).toEqual([]);
  });

  it('is for editors: it holds none of our own words', () => {
    const text = generatedFiles().get('turnpike.schema.json') ?? '';
    expect(text).not.toMatch(/"(example|isTypical|either)":/);
    expect(JSON.parse(text)).toMatchObject({
      $schema: expect.stringContaining('json-schema.org'),
      type: 'object',
    });
  });

  it('knows which settings may stand where', () => {
    expect(knownKeysAt(['pools', 'any', 'upstreams', 3])).toContain('weight');
    expect(knownKeysAt(['listen', 'proxy', 0])).toContain('session');
    expect(knownKeysAt(['timeouts', 'dial'])).toEqual([]);
  });
});
