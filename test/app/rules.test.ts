import { describe, expect, it } from 'vitest';
import { FailureLimit } from '../../src/access/failure-limit.js';
import { buildRules, countUpstreams, exitsThatChanged } from '../../src/app/rules.js';
import { loadConfig } from '../../src/config/load.js';
import { banRulesOf } from '../../src/config/runtime-values.js';
import { seededRandom } from '../../src/core/random.js';
import { Ledger } from '../../src/exits/ledger.js';
import type { Rules } from '../../src/gateway/services.js';

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
  const ledger = new Ledger(banRulesOf(config), seededRandom(1));
  const parts = { ledger, failures: new FailureLimit() };
  return (await buildRules({ ...config, pools: [{ ...pool, sources }] }, parts)).rules;
}

describe('exits that changed', () => {
  it('are those of the new rules with another login or other trust', async () => {
    const before = await rulesOf('http://a:1', 'http://u:one@b:1', 'https://c:1', 'http://gone:1');
    const now = await rulesOf('http://a:1', 'http://u:two@b:1', 'https://c:1 unchecked', 'http://new:1');
    const changed = exitsThatChanged(before, now);
    const labels = [...(now.runtime.pools.get('default')?.upstreams ?? [])]
      .filter(({ id }) => changed.has(id))
      .map(({ label }) => label);
    expect(labels).toEqual(['http://b:1', 'https://c:1']);
    expect(changed.size).toBe(2);
    expect(countUpstreams(now)).toBe(4);
  });
});
