/** A deployment that is sane, for tests to change. */
import type { DeploymentFacts, PoolFacts } from '../../src/checkup/deployment.js';

export const pool: PoolFacts = { name: 'main', exits: 100, sharing: 'broker', leaseMs: 30_000 };

export const saneDeployment: DeploymentFacts = {
  ...{ state: 'redis', gateways: null, version: '1.0.0', pools: [pool] },
  members: [
    { id: 'g1', version: '1.0.0' },
    { id: 'g2', version: '1.0.0' },
  ],
  rules: { own: [], shipped: [[{ body: { contains: ['captcha'] } }]] },
  metrics: { kind: 'answered', at: 'http://a/metrics', status: 200, isOurs: true, isShared: true },
};
