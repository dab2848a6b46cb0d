/**
 * From a configuration to the rules that requests are served by: built whole before anything is swapped, so that a
 * configuration that can't be built changes nothing.
 */
import { Clients } from '../access/clients.js';
import type { FailureLimit } from '../access/failure-limit.js';
import type { Config } from '../config/config.js';
import { metricSites, runtimeValuesOf } from '../config/runtime-values.js';
import type { Ledger } from '../exits/ledger.js';
import { loadPools, type SourceProblem } from '../exits/load-pools.js';
import type { Roster } from '../exits/roster.js';
import type { Rules } from '../gateway/services.js';
import { parseAllowEntry } from '../protocol/target.js';
import { buildPool, type Pool } from '../upstreams/pool.js';
import type { Upstream } from '../upstreams/upstream.js';

/** Rules, with what follows them beside the data plane. */
export interface BuiltRules {
  readonly rules: Rules;
  /** Sites that metrics tell apart. */
  readonly sites: ReadonlySet<string>;
  /** Lines and URLs that gave no upstream. */
  readonly problems: readonly SourceProblem[];
}

/** Builds the rules of a configuration. @throws when a list of upstreams can't be read at all. */
export async function buildRules(
  config: Config,
  parts: { readonly ledger: Ledger; readonly failures: FailureLimit },
): Promise<BuiltRules> {
  const { pools, problems } = await loadPools(config.pools, (upstream) => parts.ledger.intern(upstream));
  return {
    rules: {
      runtime: { ...runtimeValuesOf(config), pools },
      clients: new Clients(config.clients, { anonymousAllowed: true, failures: parts.failures }),
      targets: { allow: config.allowedTargets.map(parseAllowEntry).filter((entry) => entry !== null) },
    },
    sites: metricSites(config),
    problems,
  };
}

/** Upstreams over all pools. */
export function countUpstreams({ runtime }: Rules): number {
  return [...runtime.pools.values()].reduce((sum, pool) => sum + pool.upstreams.length, 0);
}

/**
 * The same rules, with what was added to the pools and removed from them by hand. Done in the step that puts them in force
 * and not before: changes may come while rules are built, and rules that are dropped must leave no trace.
 */
export function composed(built: BuiltRules, roster: Roster, ledger: Ledger): BuiltRules {
  const { runtime } = built.rules;
  const pools = [...runtime.pools.values()].map((pool): [string, Pool] => {
    const upstreams = roster.compose(pool.name, pool.upstreams);
    // Changes of pools in between may have made the ledger forget numbers that no pool in force had yet.
    const isNumbered = pool.upstreams.every(
      (upstream, index) => ledger.intern(upstream) === pool.slots[index],
    );
    if (upstreams === pool.upstreams && isNumbered) return [pool.name, pool];
    return [pool.name, buildPool({ ...pool, upstreams }, (upstream) => ledger.intern(upstream))];
  });
  return { ...built, rules: { ...built.rules, runtime: { ...runtime, pools: new Map(pools) } } };
}

/** Exits whose connections of before may not be kept: one with another password or other trust is another. */
export function exitsThatChanged(before: Rules, now: Rules): ReadonlySet<string> {
  const known = new Map(upstreamsOf(before).map((upstream) => [upstream.id, upstream]));
  const changed = upstreamsOf(now).filter((upstream) => {
    const was = known.get(upstream.id);
    return was !== undefined && !isSameWay(was, upstream);
  });
  return new Set(changed.map((upstream) => upstream.id));
}

function upstreamsOf({ runtime }: Rules): Upstream[] {
  return [...runtime.pools.values()].flatMap((pool) => [...pool.upstreams]);
}

function isSameWay(a: Upstream, b: Upstream): boolean {
  const isSameLogin = a.login?.password.reveal() === b.login?.password.reveal();
  return isSameLogin && a.tls.ca === b.tls.ca && a.tls.verify === b.tls.verify;
}
