/**
 * Which pools of the route serve a request, in which order: as listed, or by the tier that the site has reached; never
 * one whose budget is spent, or that would cost more than the exchange may. Holds where each site stands, bounded.
 */
import { touched } from '../core/eldest.js';
import type { TurnpikeEvent } from '../core/events.js';
import { Escalation, type TierChoice } from '../outcome/escalation.js';
import { noCost, type PoolCost } from '../outcome/spending.js';
import type { Pool } from '../upstreams/pool.js';
import type { Job } from './attempt.js';
import type { GatewayServices } from './services.js';

const MAX_SITES = 10_000;

/** Where sites stand, by route. The one asked last comes last. */
export class Tiers {
  readonly #byKey = new Map<string, Escalation>();

  get size(): number {
    return this.#byKey.size;
  }

  /** The tiers of this route for this site. */
  of(route: string, site: string): Escalation {
    return touched(this.#byKey, `${route}\n${site}`, MAX_SITES, () => new Escalation());
  }

  /** Sites that had to go on to a dearer pool, those asked last first, at most so many. */
  raised(most: number): RaisedSite[] {
    const found: RaisedSite[] = [];
    for (const [key, { tier, why }] of [...this.#byKey].reverse()) {
      if (found.length >= most) break;
      const [route = '', site = ''] = key.split('\n');
      if (tier > 0) found.push({ route, site, tier, why });
    }
    return found;
  }
}

/** A site that is not served by the first pool of its route. */
export interface RaisedSite {
  readonly route: string;
  readonly site: string;
  /** Position in the route's pools. */
  readonly tier: number;
  readonly why: string;
}

/** The pools in their order. A session's pool comes first, as long as it can be paid for. */
export function poolsFor(services: GatewayServices, job: Job, pinned: string | null): readonly Pool[] {
  const { route, rules, context } = job.ask;
  const wanted = context.controls.filter.pool;
  const pools: Pool[] = [];
  const names = route.escalate === null ? route.pools : inTiers(services, job);
  for (const name of names) {
    const named = rules.runtime.pools.get(name);
    const instead = named === undefined ? null : services.shares.insteadOf(named);
    const pool = instead === null ? named : rules.runtime.pools.get(instead);
    if (
      pool === undefined ||
      pools.includes(pool) ||
      (wanted !== null && wanted !== name) ||
      !isAffordable(services, job, name)
    )
      continue;
    if (pinned !== null && pool.indexById.has(pinned)) pools.unshift(pool);
    else pools.push(pool);
  }
  return pools;
}

/** Why there is no pool: money, or nothing of the kind. */
export function isBroke(services: GatewayServices, job: Job): boolean {
  const pools = poolsWanted(job);
  return pools.length > 0 && !pools.some((name) => isAffordable(services, job, name));
}

function poolsWanted({ ask }: Job): readonly string[] {
  const { pool } = ask.context.controls.filter;
  return pool === null ? ask.route.pools : ask.route.pools.filter((name) => name === pool);
}

/** Whether even the first try through any pool of the route costs more than one request may. */
export function isTooDear(job: Job): boolean {
  return poolsWanted(job).every((name) => costOf(job, name).perRequest > job.ask.route.costCeiling);
}

/** A try begins: it is charged, and the exchange remembers what it has cost. */
export function chargeTry(services: GatewayServices, job: Job, pool: string): void {
  const cost = costOf(job, pool);
  if (cost === noCost) return;
  job.trace.cost += cost.perRequest;
  services.spending.charge(pool, cost, { requests: 1, bytes: 0, wallMs: services.clock.wallMs() });
}

/** Spent since midnight, of every pool that has prices. */
export function spentToday(services: GatewayServices): [string, number][] {
  const { costs } = services.rules().runtime;
  return [...costs.keys()].map((pool) => [pool, services.spending.today(pool, services.clock.wallMs())]);
}

/** The bytes of an exchange that is over are charged to the pool that served it. */
export function chargeBytes(services: GatewayServices, ended: TurnpikeEvent): void {
  if (ended.type !== 'exchange_ended') return;
  const cost = services.rules().runtime.costs.get(ended.pool ?? '');
  if (cost === undefined || ended.pool === null) return;
  const bytes = ended.bytesIn + ended.bytesOut;
  services.spending.charge(ended.pool, cost, { requests: 0, bytes, wallMs: services.clock.wallMs() });
}

/** What a try through a pool says of its tier. */
export function recordTier(services: GatewayServices, job: Job, pool: string, isBlocked: boolean): void {
  const { route, context } = job.ask;
  if (route.escalate === null) return;
  const tier = route.pools.indexOf(pool);
  if (tier < 0) return;
  const at = { nowMs: services.clock.nowMs(), rules: route.escalate };
  services.tiers.of(route.label, context.target.site).record(tier, isBlocked, at);
}

/** The tier that serves, then the cheaper ones, the nearest first, then the dearer ones. */
function inTiers(services: GatewayServices, job: Job): readonly string[] {
  const { pools } = job.ask.route;
  const { tier } = tierOf(services, job);
  if (tier < 0) return [];
  return [...pools.slice(0, tier + 1).reverse(), ...pools.slice(tier + 1)];
}

/** Decided once for each try, however often it has to be waited for. */
function tierOf(services: GatewayServices, job: Job): TierChoice {
  const { trace } = job;
  const { route, context } = job.ask;
  if (trace.tier !== null && trace.tierAttempt === trace.attempts) return trace.tier;
  const tiers = route.pools.map((name) => ({ name, isAffordable: isAffordable(services, job, name) }));
  const escalation = services.tiers.of(route.label, context.target.site);
  const nowMs = services.clock.nowMs();
  const choice = escalation.choose(tiers, route.escalate ?? neverMoves, {
    nowMs,
    mayProbe: trace.attempts === 0,
  });
  trace.tier = choice;
  trace.tierAttempt = trace.attempts;
  if (choice.moved !== undefined) {
    const { from, to } = choice.moved;
    const { site } = context.target;
    services.emit({ type: 'pool_changed', route: route.label, site, from, to, why: choice.why });
  }
  return choice;
}

const neverMoves = { blockRate: 1, windowMs: 60_000, least: Infinity, canary: 0 };

function isAffordable(services: GatewayServices, job: Job, pool: string): boolean {
  const cost = costOf(job, pool);
  if (cost === noCost) return true;
  if (job.trace.cost + cost.perRequest > job.ask.route.costCeiling) return false;
  return services.spending.allows(pool, cost, services.clock.wallMs());
}

function costOf(job: Job, pool: string): PoolCost {
  return job.ask.rules.runtime.costs.get(pool) ?? noCost;
}
