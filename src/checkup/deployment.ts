/**
 * Judges a configuration as a deployment: how gateways are coordinated, how long leases last, whether there are exits,
 * whether blocks are seen by more than a status, whether somebody can watch. What is plainly wrong `check-config` says.
 */
import type { Conditions } from '../outcome/rule.js';
import { checkOf, counted, type CheckLine } from './line.js';

/** A pool, as configured. */
export interface PoolFacts {
  readonly name: string;
  /** Exits that are known without asking a server; null: a server has the list. */
  readonly exits: number | null;
  readonly sharing: 'none' | 'modulo' | 'ring' | 'broker';
  readonly leaseMs: number;
}

/** A gateway that is there now. */
export interface MemberFacts {
  readonly id: string;
  readonly version: string;
}

/** What was configured, and who is there. */
export interface DeploymentFacts {
  readonly state: 'memory' | 'redis';
  /** `cluster.count`; null: not said. */
  readonly gateways: number | null;
  /** Heartbeats in Redis. */
  readonly members: readonly MemberFacts[];
  readonly version: string;
  readonly pools: readonly PoolFacts[];
  readonly rules: DetectionFacts;
  readonly metrics: MetricsFacts;
}

/** Rules that are in force, shadow rules left out. */
export interface DetectionFacts {
  readonly own: readonly (readonly Conditions[])[];
  readonly shipped: readonly (readonly Conditions[])[];
}

/** What came of asking for the metrics: no place for them, nobody there, or an answer. */
export type MetricsFacts =
  | { readonly kind: 'off' }
  | { readonly kind: 'silent'; readonly at: string; readonly cause: string }
  | {
      readonly kind: 'answered';
      readonly at: string;
      readonly status: number;
      readonly isOurs: boolean;
      /** `turnpike_state_shared`; null: not there. */
      readonly isShared: boolean | null;
    };

const LEASE_MS = { least: 5000, most: 300_000 };
const FEW_EXITS = 3;

/** All lines about it. */
export function judgeDeployment(facts: DeploymentFacts): CheckLine[] {
  return [
    judgeCoordination(facts),
    judgeSharing(facts),
    judgeExits(facts),
    judgeLeases(facts.pools),
    judgeVersions(facts),
    judgeDetection(facts.rules),
    judgeMetrics(facts.metrics, facts.state),
  ];
}

function fleetSize({ gateways, members }: DeploymentFacts): number {
  return Math.max(gateways ?? 1, members.length, 1);
}

function judgeCoordination(facts: DeploymentFacts): CheckLine {
  const check = checkOf('coordination');
  const { state, gateways, members } = facts;
  if (state === 'memory') {
    return fleetSize(facts) > 1
      ? check.fail(
          `state in memory with ${counted(fleetSize(facts), 'gateway')}: bans and sessions of one are unknown to the others`,
          'set state.kind: redis',
        )
      : check.ok('state in memory: for one gateway alone');
  }
  const there = `state in Redis, ${counted(members.length, 'gateway')} there`;
  return gateways !== null && members.length > gateways
    ? check.warn(
        `${there}, more than cluster.count says (${gateways})`,
        'raise cluster.count on all gateways',
      )
    : check.ok(there);
}

function judgeSharing(facts: DeploymentFacts): CheckLine {
  const check = checkOf('sharing');
  const fleet = fleetSize(facts);
  const { pools, state } = facts;
  const apart = pools.filter(({ sharing }) => sharing === 'none');
  if (fleet > 1 && apart.length > 0)
    return check.warn(
      `every gateway uses every exit of ${namesOf(apart)}: one exit, two gateways, one site at once`,
      'choose sharing: ring (or broker, where an exit must never be used by two)',
    );
  const modulo = pools.filter(({ sharing }) => sharing === 'modulo');
  if (
    state === 'redis' &&
    modulo.length > 0 &&
    facts.gateways !== null &&
    facts.members.length > facts.gateways
  )
    return check.fail(
      `${namesOf(modulo)}: parts for ${facts.gateways} and ${facts.members.length} gateways: some share a part`,
      'raise cluster.count and give each gateway its cluster.index, or use sharing: ring',
    );
  const kinds = pools.map(({ name, sharing }) => `${name} ${sharing}`).join(', ');
  return check.ok(kinds === '' ? 'no pool' : kinds);
}

function judgeExits(facts: DeploymentFacts): CheckLine {
  const check = checkOf('exits');
  const fleet = fleetSize(facts);
  const known = facts.pools.flatMap(({ name, exits, sharing }) =>
    exits === null ? [] : [{ name, exits, sharing }],
  );
  const empty = known.filter(({ exits }) => exits === 0);
  if (facts.pools.length === 0 || empty.length > 0)
    return check.fail(
      `no exits${empty.length > 0 ? ` in ${namesOf(empty)}` : ''}`,
      'add upstreams to the pool',
    );
  const few = known.filter(({ exits, sharing }) => sharing !== 'none' && exits < FEW_EXITS * fleet);
  if (few.length > 0)
    return check.warn(
      `${namesOf(few)}: fewer than ${FEW_EXITS} exits for each of ${counted(fleet, 'gateway')}`,
      'add exits: a ban of one leaves a gateway with little or nothing',
    );
  const listed = known.length < facts.pools.length ? ', and lists that servers have' : '';
  return check.ok(
    `${counted(
      known.reduce((all, { exits }) => all + exits, 0),
      'exit',
    )}${listed}`,
  );
}

function judgeLeases(pools: readonly PoolFacts[]): CheckLine {
  const check = checkOf('leases');
  const leased = pools.filter(({ sharing }) => sharing === 'broker');
  const long = leased.filter(({ leaseMs }) => leaseMs > LEASE_MS.most);
  if (long.length > 0)
    return check.warn(
      `lease.ttl of ${namesOf(long)} is more than 5 min`,
      'a crash blocks exits so long: take 30s',
    );
  const short = leased.filter(({ leaseMs }) => leaseMs < LEASE_MS.least);
  if (short.length > 0)
    return check.warn(
      `lease.ttl of ${namesOf(short)} is less than 5 s`,
      'a pause of Redis loses all leases: take 30s',
    );
  return check.ok(leased.length === 0 ? 'none' : 'end by themselves, soon after a crash');
}

function judgeVersions({ members, version }: DeploymentFacts): CheckLine {
  const check = checkOf('versions');
  const others = [...new Set(members.map((member) => member.version))].filter((each) => each !== version);
  return others.length === 0
    ? check.ok(version)
    : check.warn(`gateways run ${others.join(', ')}, this is ${version}`, 'finish the upgrade');
}

/** Whether a rule looks at more than the status of an answer. */
function looksFurther(when: readonly Conditions[]): boolean {
  const keys = ['header', 'redirect', 'body', 'size_below', 'missing', 'slower_than'] as const;
  return when.some((conditions) => keys.some((key) => conditions[key] !== undefined));
}

function judgeDetection({ own, shipped }: DetectionFacts): CheckLine {
  const check = checkOf('detection');
  const further = own.filter(looksFurther).length;
  const fingerprints = shipped.filter(looksFurther).length;
  if (further + fingerprints === 0)
    return check.fail(
      'blocks are seen by the status alone: a captcha with status 200 counts as a good page',
      'switch detection.fingerprints on, or write rules that look at redirect, body or size (docs/detection.md)',
    );
  return check.ok(
    `${counted(fingerprints, 'shipped fingerprint')} and ${counted(further, 'own rule')} look beyond the status`,
  );
}

function judgeMetrics(metrics: MetricsFacts, state: 'memory' | 'redis'): CheckLine {
  const check = checkOf('metrics');
  if (metrics.kind === 'off')
    return check.fail('the admin listener is off: nobody can watch', 'set listen.admin');
  if (metrics.kind === 'silent')
    return check.warn(
      `no gateway answers at ${metrics.at} (${metrics.cause})`,
      'start it and ask again, or say where it is with --metrics',
    );
  const { at, status, isOurs, isShared } = metrics;
  if (status === 401 || status === 403)
    return check.warn(`${at} wants a token`, 'give Prometheus a token, or set admin.metrics: public');
  if (status !== 200 || !isOurs)
    return check.fail(`${at} answers, but not with metrics of ours (${status})`, 'who listens there?');
  if (state === 'redis' && isShared !== true)
    return check.fail(
      `the gateway at ${at} goes on alone, without Redis`,
      'look for state_degraded in its log; restart it if it runs with another configuration',
    );
  return check.ok(`${at} answers`);
}

function namesOf(pools: readonly { readonly name: string }[]): string {
  return pools.map(({ name }) => name).join(', ');
}
