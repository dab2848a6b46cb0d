import { describe, expect, it } from 'vitest';
import { openFileLimit } from '../../src/config/open-files.js';
import {
  banRulesOf,
  limitsOf,
  metricSites,
  retryRulesOf,
  routesOf,
  runtimeValuesOf,
  timeoutsOf,
} from '../../src/config/runtime-values.js';
import { configOf } from './support.js';

const standard = configOf('');

describe('what the runtime works by', () => {
  it('has the defaults of the design', () => {
    expect(timeoutsOf(standard)).toEqual({
      dialMs: 5000,
      tlsMs: 5000,
      firstByteMs: 15_000,
      exchangeMs: 30_000,
      clientHeaderMs: 10_000,
      clientIdleMs: 60_000,
      bodyIdleMs: 30_000,
      halfCloseMs: 60_000,
      tunnelIdleMs: 600_000,
      tunnelLifetimeMs: 86_400_000,
      upstreamIdleMs: 15_000,
      acquireMs: 5000,
      drainMs: 30_000,
      preStopMs: 0,
    });
    expect(banRulesOf(standard)).toEqual({
      siteMs: 3_600_000,
      siteCapMs: 86_400_000,
      transportMs: 30_000,
      transportCapMs: 3_600_000,
      jitter: 0.2,
      maxEjected: 0.5,
      suspectCount: 2,
      suspectWindowMs: 600_000,
    });
    expect(retryRulesOf(standard)).toEqual({ transportRatio: 0.2, transportFloorPerS: 10 });
    expect(routesOf(standard)).toEqual([
      {
        label: 'route-0',
        match: { sites: [], hosts: [], ports: [], paths: [], methods: [], clients: [], tags: [] },
        pools: ['default'],
        retries: 2,
        timeoutMs: 30_000,
        retryUnsafe: false,
        onClientFin: 'finish',
        expose: 'id',
        onExhausted: 'next_tier',
        escalate: null,
        costCeiling: Infinity,
        statuses: { suspect: [403], throttled: [429], unclear: [503] },
        filter: null,
      },
    ]);
    expect(runtimeValuesOf(standard)).toMatchObject({ sessionHeader: 'x-session-id', sessionTtlMs: 600_000 });
  });

  it('lets a route differ', () => {
    const config = configOf(`
pools: { a: {}, b: {} }
retry: { retries: 1 }
timeouts: { exchange: 7s }
routes:
  - { name: shop, match: { site: shop.example }, pools: b, retries: 4, timeout: 3s, statuses: { suspect: [401, 403] } }
  - {}
`);
    expect(routesOf(config)).toMatchObject([
      {
        label: 'shop',
        pools: ['b'],
        retries: 4,
        timeoutMs: 3000,
        statuses: { suspect: [401, 403], throttled: [429] },
      },
      { label: 'route-1', pools: ['a', 'b'], retries: 1, timeoutMs: 7000 },
    ]);
    expect([...metricSites(config)]).toEqual(['shop.example']);
  });
});

describe('connections', () => {
  it('are half of the files that may be open, less a reserve', () => {
    expect(limitsOf(standard, 1024).connections).toBe(460);
    expect(limitsOf(standard, 20_000)).toMatchObject({ connections: 9744, turnedAway: 128, sockets: 9744 });
    expect(limitsOf(standard, 1).connections).toBe(1);
    expect(limitsOf(standard, null).connections).toBe(10_000);
  });

  it('are as configured, but never more', () => {
    const config = configOf('limits: { connections: 300, connections_per_address: 5 }');
    expect(limitsOf(config, 1024)).toMatchObject({ connections: 300, connectionsPerAddress: 5 });
    expect(limitsOf(config, 256)).toMatchObject({ connections: 92, turnedAway: 18, sockets: 92 });
    expect(limitsOf(config, null).connections).toBe(300);
    expect(limitsOf(standard, 1024).connectionsPerAddress).toBe(Infinity);
  });

  it('know the limit of the system', () => {
    if (process.platform === 'linux') expect(openFileLimit()).toBeGreaterThan(10);
    expect(limitsOf(standard).connections).toBeGreaterThan(0);
  });
});
