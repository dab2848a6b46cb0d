import { describe, expect, it } from 'vitest';
import { buildRules, countUpstreams, hasChanged } from '../../src/app/rules.js';
import { loadConfig } from '../../src/config/load.js';
import type { Rules } from '../../src/gateway/services.js';
import { rulesParts } from './rules-parts.js';

const env: Record<string, string> = {};

/** The rules of a configuration without file whose one pool has these upstreams, given by environment variables. */
async function rulesOf(...urls: string[]): Promise<Rules> {
  const loaded = loadConfig({ file: null, overrides: {}, env });
  if (loaded.kind === 'problems') throw new Error('no configuration');
  const { config } = loaded;
  const [pool] = config.pools;
  if (pool === undefined) throw new Error('no pool');
  const { Secret } = await import('../../src/core/secret.js');
  const sources = urls.map((url) => {
    const [text = '', unchecked] = url.split(' ');
    return {
      kind: 'url' as const,
      url: new Secret(text),
      options: { tls: { verify: unchecked === undefined } },
    };
  });
  const built = await buildRules({ ...config, pools: [{ ...pool, sources }] }, rulesParts());
  built.keeper.close();
  return built.rules;
}

describe('exits that changed', () => {
  it('are those of the new rules with another login or other trust', async () => {
    const before = await rulesOf('http://a:1', 'http://u:one@b:1', 'https://c:1', 'http://gone:1');
    const now = await rulesOf('http://a:1', 'http://u:two@b:1', 'https://c:1 unchecked', 'http://new:1');
    const ids = [before, now].flatMap(({ runtime }) => [...(runtime.pools.get('default')?.upstreams ?? [])]);
    const changed = new Set(ids.filter(({ id }) => hasChanged(id, before, now)).map(({ label }) => label));
    expect([...changed]).toEqual(['http://b:1', 'https://c:1']);
    expect(countUpstreams(now)).toBe(4);
  });
});
