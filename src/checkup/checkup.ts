/** The launch check as a whole: facts in, lines out, in the order in which one would mend things. */
import { judgeDeployment, type DeploymentFacts } from './deployment.js';
import type { CheckLine } from './line.js';
import { judgeNodes, type NodeFacts } from './redis-nodes.js';
import { judgeAway, judgeTrial, judgeWay, type TrialFacts, type WayFacts } from './redis-way.js';

/** What came of asking Redis. */
export type RedisFacts =
  | {
      readonly kind: 'away';
      /** As the state says it: `WRONGPASS`, `connection`, `timeout` … */
      readonly code: string;
    }
  | {
      readonly kind: 'there';
      readonly isCluster: boolean;
      readonly way: WayFacts;
      /** At least one. */
      readonly nodes: readonly NodeFacts[];
      readonly trial: TrialFacts;
    };

/** @param redis null: none is configured */
export function checkUp(deployment: DeploymentFacts, redis: RedisFacts | null): CheckLine[] {
  return [...judgeDeployment(deployment), ...(redis === null ? [] : judgeRedis(redis))];
}

function judgeRedis(redis: RedisFacts): CheckLine[] {
  if (redis.kind === 'away') return [judgeAway(redis.code)];
  const { nodes, way, trial, isCluster } = redis;
  return [...judgeNodes(nodes, { isCluster }), ...judgeWay(way), ...judgeTrial(trial)];
}
