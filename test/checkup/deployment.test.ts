import { describe, expect, it } from 'vitest';
import { judgeDeployment, type DeploymentFacts } from '../../src/checkup/deployment.js';
import { pool, saneDeployment } from './deployments.js';

const { metrics } = saneDeployment;
const answered = (change: object): Partial<DeploymentFacts> => ({
  metrics: { ...metrics, ...change },
});

describe('a deployment', () => {
  it('that is sane gets good lines only', () => {
    const lines = judgeDeployment(saneDeployment);
    expect(lines.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(lines).toHaveLength(7);
  });

  const cases: [string, Partial<DeploymentFacts>, RegExp][] = [
    ['coordination', { state: 'memory', members: [] }, /^ok state in memory: for one gateway/],
    ['coordination', { state: 'memory', members: [], gateways: 3 }, /^fail .*with 3 gateways/],
    ['coordination', { gateways: 1 }, /^warn .*more than cluster\.count/],
    ['sharing', { pools: [{ ...pool, sharing: 'none' }] }, /^warn every gateway uses every exit of main/],
    ['sharing', { pools: [{ ...pool, sharing: 'none' }], members: [] }, /^ok main none/],
    ['sharing', { pools: [{ ...pool, sharing: 'modulo' }], gateways: 1 }, /^fail main: parts for 1 and 2/],
    ['sharing', { pools: [{ ...pool, sharing: 'modulo' }], gateways: 2 }, /^ok main modulo/],
    ['sharing', { pools: [] }, /^ok no pool/],
    ['exits', { pools: [] }, /^fail no exits$/],
    ['exits', { pools: [{ ...pool, exits: 0 }] }, /^fail no exits in main/],
    ['exits', { pools: [{ ...pool, exits: 5 }] }, /^warn main: fewer than 3 exits for each of 2 gateways/],
    ['exits', { pools: [pool, { ...pool, exits: null }] }, /^ok 100 exits, and lists that servers have/],
    ['leases', { pools: [{ ...pool, leaseMs: 600_000 }] }, /^warn .*more than 5 min/],
    ['leases', { pools: [{ ...pool, leaseMs: 1000 }] }, /^warn .*less than 5 s/],
    ['leases', { pools: [{ ...pool, sharing: 'ring' }] }, /^ok none/],
    ['versions', { version: '1.1.0' }, /^warn gateways run 1\.0\.0, this is 1\.1\.0/],
    ['detection', { rules: { own: [], shipped: [] } }, /^fail blocks are seen by the status alone/],
    ['detection', { rules: { own: [[{ status: [{ from: 403, to: 403 }] }]], shipped: [] } }, /^fail/],
    ['detection', { rules: { own: [[{ size_below: 9 }]], shipped: [] } }, /^ok 0 .* and one own rule/],
    ['metrics', { metrics: { kind: 'off' } }, /^fail the admin listener is off/],
    ['metrics', { metrics: { kind: 'silent', at: 'x', cause: 'ECONNREFUSED' } }, /^warn .*\(ECONNREFUSED\)/],
    ['metrics', answered({ status: 401, isOurs: false }), /^warn .*wants a token/],
    ['metrics', answered({ status: 404, isOurs: false }), /^fail .*not with metrics of ours \(404\)/],
    ['metrics', answered({ isOurs: false }), /^fail .*\(200\)/],
    ['metrics', answered({ isShared: false }), /^fail .*goes on alone/],
    ['metrics', { ...answered({ isShared: null }), state: 'memory' }, /^ok/],
  ];
  it.each(cases)('%s of %j', (check, change, says) => {
    const line = judgeDeployment({ ...saneDeployment, ...change }).find((each) => each.check === check);
    expect(`${line?.level} ${line?.says}`).toMatch(says);
    expect(line?.todo === '').toBe(line?.level === 'ok');
  });
});
