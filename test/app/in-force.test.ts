import { FailureLimit } from '../../src/access/failure-limit.js';
import { noUpstreamLogins } from '../../src/exits/upstream-logins.js';
import { describe, expect, it } from 'vitest';
import { InForce } from '../../src/app/in-force.js';
import { buildRules } from '../../src/app/rules.js';
import type { Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load.js';
import { banRulesOf } from '../../src/config/runtime-values.js';
import { systemClock } from '../../src/core/clock.js';
import { seededRandom } from '../../src/core/random.js';
import { Secret } from '../../src/core/secret.js';
import { TimerWheel } from '../../src/core/timer-wheel.js';
import { Ledger } from '../../src/exits/ledger.js';
import type { PoolSource } from '../../src/exits/load-pools.js';
import { upstreamAt } from '../upstreams/pools.js';

const urlSource = (url: string): PoolSource => ({ kind: 'url', url: new Secret(url), options: {} });

function configOf(...sources: PoolSource[]): Config {
  const loaded = loadConfig({ file: null, overrides: {}, env: {} });
  const [pool] = loaded.kind === 'config' ? loaded.config.pools : [];
  if (loaded.kind === 'problems' || pool === undefined) throw new Error('no configuration');
  return { ...loaded.config, pools: [{ ...pool, sources }] };
}

/** Rules in force without a gateway, and what was told. */
function inForceOf() {
  const ledger = new Ledger(banRulesOf(configOf()), seededRandom(1));
  const told: string[] = [];
  const own = { ports: new Set<number>(), addresses: new Set<string>(), names: new Set<string>() };
  const inForce = new InForce({
    ...{ failures: new FailureLimit(), stored: null, logins: noUpstreamLogins },
    ...{ ledger, own, wheel: new TimerWheel(systemClock), listWorker: new URL('file:///no-thread.js') },
    emit: (event) => told.push(event.type === 'note' ? event.what : event.type),
    onChange: () => ledger.applyPools(inForce.rules.runtime.pools.values(), 0),
  });
  const labels = () =>
    inForce.rules.runtime.pools.get('default')?.upstreams.map(({ label }) => label.replace('http://', ''));
  return { inForce, ledger, told, labels };
}

describe('rules in force', () => {
  it('keep over a new reading what was added by hand and leave out what was removed', async () => {
    const { inForce, ledger, labels } = inForceOf();
    const use = async (...urls: string[]): Promise<void> =>
      inForce.use(await buildRules(configOf(...urls.map(urlSource)), inForce.rulesParts));
    await use('http://a:1', 'http://b:1');
    inForce.roster.remove('default', inForce.rules.runtime.pools.get('default')?.upstreams[0]?.id ?? '');
    inForce.roster.add('default', upstreamAt(7));
    await use('http://a:1', 'http://c:1');
    expect(labels()).toEqual(['c:1', '10.0.0.7:8000']);
    const pool = inForce.rules.runtime.pools.get('default');
    expect([...(pool?.slots ?? [])]).toEqual(pool?.upstreams.map((upstream) => ledger.intern(upstream)));
    inForce.built.keeper.close();
  });

  it('are told of no bad line of rules that are dropped', async () => {
    const { inForce, told } = inForceOf();
    const built = await buildRules(configOf(urlSource('nonsense://x')), inForce.rulesParts);
    built.keeper.close();
    expect(told).toEqual([]);
    inForce.use(await buildRules(configOf(urlSource('nonsense://x')), inForce.rulesParts));
    expect(told).toEqual(['bad_upstream']);
    inForce.built.keeper.close();
  });

  it('keep the numbers of exits whose pool is not in force yet, however many changes come before', async () => {
    const { inForce, ledger } = inForceOf();
    inForce.use(await buildRules(configOf(urlSource('http://a:1')), inForce.rulesParts));
    const next = await buildRules(configOf(urlSource('http://new:1')), inForce.rulesParts);
    for (let n = 0; n < 5; n++) {
      ledger.applyPools(inForce.rules.runtime.pools.values(), n);
      ledger.intern(upstreamAt(n));
    }
    inForce.use(next);
    const pool = inForce.rules.runtime.pools.get('default');
    expect([...(pool?.slots ?? [])]).toEqual(pool?.upstreams.map((upstream) => ledger.intern(upstream)));
    next.keeper.close();
  });
});
