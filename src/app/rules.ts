/**
 * From a configuration to the rules that requests are served by: built whole before anything is swapped, so that a
 * configuration that can't be built changes nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import { Clients } from '../access/clients.js';
import type { FailureLimit } from '../access/failure-limit.js';
import type { StoredClients } from '../access/stored-clients.js';
import type { Config } from '../config/config.js';
import { metricSites, runtimeValuesOf } from '../config/runtime-values.js';
import type { PoolKeeper } from '../exits/pool-keeper.js';
import type { Rules } from '../gateway/services.js';
import { parseAllowEntry } from '../protocol/target.js';
import type { Upstream } from '../upstreams/upstream.js';

/** Rules, with what follows them beside the data plane. */
export interface BuiltRules {
  readonly rules: Rules;
  /** Sites that metrics tell apart. */
  readonly sites: ReadonlySet<string>;
  /** Keeps the pools up to date. Open, not started; closed by whoever does not put the rules in force. */
  readonly keeper: PoolKeeper;
}

/** What rules are built with. */
export interface RulesParts {
  readonly failures: FailureLimit;
  readonly stored: StoredClients | null;
  readonly newKeeper: () => PoolKeeper;
  /** The keeper of the rules in force, null at the start: its last good lists are taken over. */
  readonly keeperInForce: () => PoolKeeper | null;
}

/** Builds the rules of a configuration. @throws when a list of upstreams can't be read at all. */
export async function buildRules(config: Config, parts: RulesParts): Promise<BuiltRules> {
  const { failures, stored } = parts;
  const who = { failures, stored };
  const keeper = parts.newKeeper();
  const pools = await keeper.open(config.pools, parts.keeperInForce());
  return {
    rules: {
      runtime: { ...runtimeValuesOf(config), pools },
      clients: new Clients(config.clients, { anonymousAllowed: true, ...who }),
      targets: { allow: config.allowedTargets.map(parseAllowEntry).filter((entry) => entry !== null) },
    },
    sites: metricSites(config),
    keeper,
  };
}

/** The same rules with these pools. */
export function withPools(rules: Rules, pools: Rules['runtime']['pools']): Rules {
  return { ...rules, runtime: { ...rules.runtime, pools } };
}

/** Upstreams over all pools. */
export function countUpstreams({ runtime }: Rules): number {
  return [...runtime.pools.values()].reduce((sum, pool) => sum + pool.upstreams.length, 0);
}

/** Whether the connections of before may not be kept: an exit with another password or other trust is another. */
export function hasChanged(id: string, before: Rules, now: Rules): boolean {
  const was = exitOf(before, id);
  const is = exitOf(now, id);
  return was !== null && is !== null && !isSameWay(was, is);
}

/** Whether the exit is asked with another login than before. */
export function hasOtherLogin(id: string, before: Rules, now: Rules): boolean {
  const was = exitOf(before, id);
  const is = exitOf(now, id);
  return was !== null && is !== null && loginOf(was) !== loginOf(is);
}

function exitOf({ runtime }: Rules, id: string): Upstream | null {
  for (const { indexById, upstreams } of runtime.pools.values()) {
    const index = indexById.get(id);
    if (index !== undefined) return upstreams[index] ?? null;
  }
  return null;
}

function isSameWay(a: Upstream, b: Upstream): boolean {
  return loginOf(a) === loginOf(b) && isDeepStrictEqual(a.tls, b.tls);
}

/** Of an exit of a template that of the template, since its own comes with the request. */
function loginOf({ template, login }: Upstream): string {
  const own = template === undefined ? login : template.template.base.login;
  return own === null ? '' : `${own.username}\n${own.password.reveal()}`;
}
