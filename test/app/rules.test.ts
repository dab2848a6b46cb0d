import { describe, expect, it } from 'vitest';
import { FailureLimit } from '../../src/access/failure-limit.js';
import { buildRules, composed, countUpstreams, exitsThatChanged } from '../../src/app/rules.js';
import type { Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load.js';
import { banRulesOf } from '../../src/config/runtime-values.js';
import { seededRandom } from '../../src/core/random.js';
import { Ledger } from '../../src/exits/ledger.js';
import { Roster } from '../../src/exits/roster.js';
import type { Rules } from '../../src/gateway/services.js';

const env: Record<string, string> = {};

function configOfNothing(): Config {
  const loaded = loadConfig({ file: null, overrides: {}, env });
  if (loaded.kind === 'problems') throw new Error('no configuration');
  return loaded.config;
}

/** The rules of a configuration without file whose one pool has these upstreams, given by environment variables. */
async function rulesOf(...urls: string[]): Promise<Rules> {
  const config = configOfNothing();
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

describe('a new reading of the sources', () => {
  it('keeps what was added by hand and leaves out what was removed', async () => {
    const ledger = new Ledger(banRulesOf(configOfNothing()), seededRandom(1));
    const roster = new Roster();
    const built = (rules: Rules) => ({ rules, sites: new Set<string>(), problems: [] });
    const first = composed(built(await rulesOf('http://a:1', 'http://b:1')), roster, ledger);
    const [a] = first.rules.runtime.pools.get('default')?.upstreams ?? [];
    const [added] = (await rulesOf('http://added:1')).runtime.pools.get('default')?.upstreams ?? [];
    if (a === undefined || added === undefined) throw new Error('no exits');
    roster.remove('default', a.id);
    roster.add('default', added);
    const next = composed(built(await rulesOf('http://a:1', 'http://c:1')), roster, ledger);
    const pool = next.rules.runtime.pools.get('default');
    expect(pool?.upstreams.map(({ label }) => label)).toEqual(['http://c:1', 'http://added:1']);
    expect([...(pool?.slots ?? [])]).toEqual(pool?.upstreams.map((upstream) => ledger.intern(upstream)));
  });
});
