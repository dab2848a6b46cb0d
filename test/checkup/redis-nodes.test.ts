import { describe, expect, it } from 'vitest';
import { readRedisInfo, type RedisInfo } from '../../src/checkup/redis-info.js';
import { judgeNodes, type NodeFacts } from '../../src/checkup/redis-nodes.js';

const info: RedisInfo = {
  ...{ version: '7.2.0', runId: 'a', role: 'master', isCluster: false, policy: 'noeviction', evicted: 0 },
  ...{ usedBytes: 50, maxBytes: 100, clients: 10, maxClients: 100, opsPerSecond: 5, cpuSeconds: 1 },
  saves: { isAof: false, rdb: 'ok', aof: 'ok' },
};
const node: NodeFacts = {
  ...{ at: 'a:1', info, aheadMs: 0, busy: 0.1, keys: 4, endless: 0, sample: null },
};
const unknown = readRedisInfo('');

function found(change: Partial<NodeFacts>, check: string, isCluster = false): string {
  const line = judgeNodes([{ ...node, ...change }], { isCluster }).find((each) => each.check === check);
  return `${line?.level} ${line?.says}`;
}
const told = (change: Partial<RedisInfo>, check: string): string =>
  found({ info: { ...info, ...change } }, check);

describe('a server', () => {
  it('that is sane gets good lines only', () => {
    const lines = judgeNodes([node], { isCluster: false });
    expect(lines.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(lines).toHaveLength(8);
  });

  it('that says nothing is warned of once, for eviction', () => {
    const lines = judgeNodes([{ ...node, info: unknown, busy: null }], { isCluster: false });
    expect(lines.filter(({ level }) => level !== 'ok').map(({ check }) => check)).toEqual(['eviction']);
  });

  it.each([
    ['server', { role: 'slave' }, /^fail is a replica/],
    ['server', { isCluster: true }, /^fail is a node of a cluster/],
    ['server', { version: null }, /^ok Redis of unknown version/],
    ['eviction', { policy: 'allkeys-lru' }, /^fail .*allkeys-lru drops/],
    ['eviction', { policy: 'allkeys-lru', maxBytes: 0 }, /^warn .*once there is a maxmemory/],
    ['eviction', { policy: 'volatile-lru' }, /^warn .*volatile-lru/],
    ['eviction', { policy: 'volatile-ttl' }, /^ok volatile-ttl/],
    ['eviction', { policy: 'volatile-ttl', evicted: 7 }, /^warn .*7 keys evicted/],
    ['memory', { usedBytes: 81 }, /^warn .*81 % of maxmemory/],
    ['memory', { usedBytes: 96 }, /^fail .*96 %/],
    ['memory', { maxBytes: 0 }, /^ok .*no limit/],
    ['persistence', { saves: { isAof: false, rdb: 'err', aof: 'ok' } }, /^fail the last save failed/],
    ['persistence', { saves: { isAof: true, rdb: 'ok', aof: 'err' } }, /^fail the last save failed/],
    ['persistence', { saves: { isAof: true, rdb: 'ok', aof: 'ok' } }, /^ok append-only/],
    ['clients', { clients: 81 }, /^warn 81 of 100 connections/],
    ['clients', { clients: 96 }, /^fail 96 of 100/],
    ['clients', { maxClients: null }, /^ok 10 connections/],
    ['load', { opsPerSecond: null }, /^ok busy for 10 %/],
  ] as const)('%s of %j', (check, change, says) => expect(told(change, check)).toMatch(says));

  it.each([
    ['load', { busy: 0.6 }, /^warn .*60 % of a core/],
    ['load', { busy: 0.9 }, /^fail .*90 % of a core/],
    ['load', { busy: null }, /^ok 5 commands a second$/],
    ['ends', { endless: 2, sample: 't:x' }, /^fail 2 of 4 keys .* such as t:x/],
    ['clocks', { aheadMs: 1500 }, /^warn .*1\.5 s/],
    ['clocks', { aheadMs: -20_000 }, /^fail .*20\.0 s/],
  ] as const)('%s of %j', (check, change, says) => expect(found(change, check)).toMatch(says));

  it('of a cluster is right where a cluster is configured', () => {
    expect(found({ info: { ...info, isCluster: true } }, 'server', true)).toMatch(/^ok/);
  });
});

describe('several servers', () => {
  it('are judged by the worst, which is named; clocks by the two that are furthest apart', () => {
    const late = { ...node, at: 'b:2', aheadMs: -800, busy: 0.7 };
    const lines = judgeNodes([{ ...node, aheadMs: 800 }, late], { isCluster: false });
    const of = (name: string) => lines.find(({ check }) => check === name);
    expect(of('load')).toMatchObject({ level: 'warn', says: expect.stringMatching(/^b:2: /) });
    expect(of('clocks')).toMatchObject({ level: 'warn', says: expect.stringMatching(/1\.6 s/) });
    expect(of('ends')?.says).toMatch(/^8 keys/);
  });

  it('are at least one', () =>
    expect(() => judgeNodes([], { isCluster: false })).toThrow('at least one node'));
});
