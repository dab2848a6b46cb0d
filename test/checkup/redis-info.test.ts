import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRedisInfo } from '../../src/checkup/redis-info.js';

const text = `# Server\r
redis_version:7.0.15\r
run_id:abc\r
connected_clients:3\r
maxclients:10000\r
used_memory:1048576\r
maxmemory:0\r
maxmemory_policy:noeviction\r
aof_enabled:1\r
rdb_last_bgsave_status:ok\r
aof_last_write_status:ok\r
instantaneous_ops_per_sec:12\r
evicted_keys:0\r
role:master\r
used_cpu_sys:9.5\r
used_cpu_user:9.5\r
used_cpu_sys_main_thread:0.25\r
used_cpu_user_main_thread:0.5\r
cluster_enabled:1\r
`;

describe('INFO', () => {
  it('is read', () => {
    expect(readRedisInfo(text)).toEqual({
      ...{ version: '7.0.15', runId: 'abc', role: 'master', isCluster: true, policy: 'noeviction' },
      ...{ usedBytes: 1048576, maxBytes: 0, clients: 3, maxClients: 10000, opsPerSecond: 12, evicted: 0 },
      ...{ cpuSeconds: 0.75, saves: { isAof: true, rdb: 'ok', aof: 'ok' } },
    });
  });

  it('of an older server names the CPU of all threads', () => {
    expect(readRedisInfo('used_cpu_sys:1.5\nused_cpu_user:2').cpuSeconds).toBe(3.5);
  });

  it('that lacks something says null, and so does what is no number', () => {
    const { cpuSeconds, usedBytes, policy, isCluster } = readRedisInfo('used_memory:many\nused_cpu_sys:1');
    expect({ cpuSeconds, usedBytes, policy, isCluster }).toEqual({
      ...{ cpuSeconds: null, usedBytes: null, policy: null, isCluster: false },
    });
  });

  it('of any form is read without a throw', () => {
    fc.assert(fc.property(fc.string(), (any) => 'role' in readRedisInfo(any)));
  });
});
