/**
 * The launch check: gathers what `checkup/` judges, from a configuration, its Redis and a gateway that runs. It starts
 * nothing and changes nothing but keys of its own that end by themselves.
 */
import { checkUp, type RedisFacts } from '../checkup/checkup.js';
import type { DeploymentFacts, PoolFacts } from '../checkup/deployment.js';
import type { CheckLine } from '../checkup/line.js';
import { readRedisInfo } from '../checkup/redis-info.js';
import type { NodeFacts } from '../checkup/redis-nodes.js';
import type { Config, StateConfig } from '../config/config.js';
import { countExits } from '../config/list-check.js';
import { isLoopback } from '../config/units.js';
import type { Clock } from '../core/clock.js';
import type { Random } from '../core/random.js';
import { strangersIn, type Member } from '../facts/member.js';
import { fingerprints } from '../outcome/fingerprints.js';
import { askAgain, askNodes, servesAnybody, type NodeAnswers } from '../state/redis/ask-nodes.js';
import { RedisKeys } from '../state/redis/keys.js';
import { tryOut } from '../state/try-out.js';
import { askMetrics } from './ask-metrics.js';

/** What it needs besides the configuration. */
export interface DoctorParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  /** Where the metrics of a gateway are, when not where the configuration says. */
  readonly metrics: URL | null;
}

/** All lines of the check. Takes about two seconds, most of it watching Redis. */
export async function examine(config: Config, parts: DoctorParts): Promise<readonly CheckLine[]> {
  const { state } = config;
  const [metrics, asked] = await Promise.all([
    askMetrics(config, parts.metrics),
    state.kind === 'memory' ? null : askRedis(state, parts),
  ]);
  const shipped = new Set(fingerprints.map(({ name }) => name));
  const inForce = config.rules.filter(({ shadow }) => !shadow);
  const deployment: DeploymentFacts = {
    ...{ state: state.kind, metrics, version: parts.version },
    gateways: config.cluster.count ?? null,
    members: asked?.members ?? [],
    pools: config.pools.map(poolFacts),
    rules: {
      own: inForce.filter(({ name }) => !shipped.has(name)).map(({ when }) => when),
      shipped: inForce.filter(({ name }) => shipped.has(name)).map(({ when }) => when),
    },
  };
  return checkUp(deployment, asked?.redis ?? null);
}

function poolFacts(pool: Config['pools'][number]): PoolFacts {
  const { name, sharing } = pool;
  return {
    name,
    exits: countExits(pool),
    sharing: sharing?.kind ?? 'none',
    leaseMs: sharing?.lease.ttlMs ?? 0,
  };
}

interface Redis {
  readonly redis: RedisFacts;
  readonly members: readonly Member[];
}

async function askRedis(
  state: Extract<StateConfig, { kind: 'redis' }>,
  { clock, random }: DoctorParts,
): Promise<Redis> {
  const { place, prefix, secret } = state;
  const parts = { place, prefix, clock, random, keys: new RedisKeys(prefix, secret, random) };
  // One after the other: how busy Redis is must be seen before we give it work.
  const asked = await askNodes(parts);
  if (asked.kind === 'away') return { redis: asked, members: [] };
  const isOpen = await servesAnybody(parts);
  const again = place.kind === 'cluster' ? [] : await askAgain(parts);
  const servers = new Set(again.flatMap((text) => readRedisInfo(text).runId ?? [])).size;
  const { trial, members } = await tryOut({ place, prefix, secret }, { clock, random });
  const sum = (of: 'seen' | 'foreign'): number => asked.nodes.reduce((all, { pins }) => all + pins[of], 0);
  const way = {
    ...{ servers, isOpen, isWide: asked.isWide, isTls: place.tls },
    isLoopback: place.nodes.every(({ host }) => isLoopback(host)),
    strangers: strangersIn(members, parts.keys.secretName),
    pins: { seen: sum('seen'), foreign: sum('foreign') },
  };
  const nodes = asked.nodes.map(nodeFacts);
  return { members, redis: { kind: 'there', isCluster: place.kind === 'cluster', way, nodes, trial } };
}

function nodeFacts({ info: text, later, ...node }: NodeAnswers): NodeFacts {
  const [info, then] = [readRedisInfo(text), readRedisInfo(later.info).cpuSeconds];
  const isKnown = info.cpuSeconds !== null && then !== null;
  return { ...node, info, busy: isKnown ? ((then - info.cpuSeconds) * 1000) / later.afterMs : null };
}
