/** `turnpike doctor` against real Redis servers: it passes a sane deployment and finds what is seeded into it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { examine, type DoctorParts } from '../../src/app/doctor.js';
import type { CheckLine, Level } from '../../src/checkup/line.js';
import { judgeTrial } from '../../src/checkup/redis-way.js';
import { run } from '../../src/cli/run.js';
import { packageVersion } from '../../src/cli/version.js';
import { loadConfig } from '../../src/config/load.js';
import { systemClock } from '../../src/core/clock.js';
import { systemRandom } from '../../src/core/random.js';
import { Secret } from '../../src/core/secret.js';
import type { RedisPlace } from '../../src/state/redis/client.js';
import { RedisMembers } from '../../src/state/redis/members.js';
import { RedisPins } from '../../src/state/redis/pins.js';
import { tryOut } from '../../src/state/try-out.js';
import { keptOutput } from '../cli/support.js';
import { inTurn } from '../support/in-turn.js';
import { jumpingClock } from '../support/jumping-clock.js';
import {
  connected,
  leastRights,
  makeLink,
  singleAt,
  startCluster,
  startRedis,
  startSentinels,
  type RealRedis,
  type TestLink,
} from '../support/real-redis.js';
import { createStage } from '../support/stage.js';
import { eventually } from '../support/wait.js';

// Some start six servers and more.
vi.setConfig({ testTimeout: 120_000 });
const stage = createStage();
const folder = mkdtempSync(join(tmpdir(), 'turnpike-doctor-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PASSWORD = 'CANARY-of-redis';
type Settings = Record<string, unknown>;

/** What is changed of a sane deployment: its Redis, its configuration, the clock of the machine that asks. */
interface Seed {
  readonly redis?: (redis: RealRedis) => Promise<unknown>;
  readonly config?: Settings;
  readonly parts?: Partial<DoctorParts>;
  readonly expected: readonly [check: string, level: Level, says: RegExp];
}

const urlOf = (port: number, login = `turnpike:${PASSWORD}`): string => `redis://${login}@127.0.0.1:${port}`;
const stateAt = (url: string): Settings => ({ kind: 'redis', url, secret: 'a secret of the fleet' });

async function saneRedis(settings: readonly string[] = []): Promise<RealRedis> {
  const redis = stage.keep(await startRedis(settings));
  await redis.admin.call(
    'ACL',
    'SETUSER',
    'turnpike',
    'reset',
    'on',
    `>${PASSWORD}`,
    ...leastRights('turnpike'),
  );
  await redis.admin.call('ACL', 'SETUSER', 'default', 'resetpass', '>of-the-test');
  return redis;
}

function saneConfig(redis: RealRedis): Settings {
  const upstreams = Array.from({ length: 9 }, (_, n) => ({ url: `http://10.0.0.1:${n + 1}` }));
  return {
    listen: { proxy: '127.0.0.1:0', admin: '127.0.0.1:0' },
    state: stateAt(urlOf(redis.port)),
    pools: { main: { sharing: 'broker', upstreams } },
  };
}

async function diagnose(settings: Settings, parts: Partial<DoctorParts> = {}): Promise<readonly CheckLine[]> {
  const file = join(folder, 'turnpike.yaml');
  writeFileSync(file, stringify(settings));
  const loaded = loadConfig({ file, overrides: {} });
  if (loaded.kind === 'problems') throw new Error(JSON.stringify(loaded.problems));
  const version = packageVersion();
  return examine(loaded.config, {
    clock: systemClock,
    random: systemRandom,
    version,
    metrics: null,
    ...parts,
  });
}

/** A line to it as a gateway with this secret has it. */
async function lineTo({ port }: RealRedis, secret?: string): Promise<TestLink> {
  const place = singleAt(port, { username: 'turnpike', password: new Secret(PASSWORD) });
  const line = await connected(
    makeLink(place, { prefix: 'turnpike', ...(secret !== undefined && { secret }) }),
  );
  stage.keep({ close: async () => line.link.close() });
  return line;
}

async function announce(
  redis: RealRedis,
  ids: readonly string[],
  keys: readonly string[] = [],
): Promise<void> {
  const line = await lineTo(redis);
  const members = new RedisMembers(line.link, line.keys);
  for (const id of ids) await members.announce({ id, version: packageVersion(), load: 0, keys }, 60_000);
}

async function pinUnderAnotherSecret(redis: RealRedis): Promise<void> {
  const { link, keys } = await lineTo(redis, 'another secret of a fleet');
  await new RedisPins(link, keys).bind('a session', 'u-1', 60_000);
}

const aMinuteAhead = jumpingClock();
aMinuteAhead.jump(60_000);

const seeds: Readonly<Record<string, Seed>> = {
  'an eviction policy that drops what is in force': {
    redis: ({ admin }) => admin.config('SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru'),
    expected: ['eviction', 'fail', /allkeys-lru drops/],
  },
  'a key of ours without an end': {
    redis: ({ admin }) => admin.set('turnpike:{pins:3}:left-behind', '1'),
    expected: ['ends', 'fail', /1 of .* never end, such as turnpike:\{pins:3\}:left-behind/],
  },
  'clocks that differ': {
    parts: { clock: aMinuteAhead },
    expected: ['clocks', 'fail', /differ by 60\.\d s/],
  },
  'a wrong password': {
    redis: ({ admin }) => admin.call('ACL', 'SETUSER', 'turnpike', 'resetpass', '>another'),
    expected: ['redis', 'fail', /WRONGPASS/],
  },
  'no detection beyond the status': {
    config: { detection: { fingerprints: false } },
    expected: ['detection', 'fail', /by the status alone/],
  },
  'memory where there are several gateways': {
    config: {
      state: { kind: 'memory' },
      cluster: { count: 3 },
      pools: { main: { upstreams: [{ url: 'http://10.0.0.1:1' }] } },
    },
    expected: ['coordination', 'fail', /in memory with 3 gateways/],
  },
  'a replica in place of the primary': {
    redis: async ({ admin }) => {
      const primary = await saneRedis();
      await admin.config('SET', 'masterauth', 'of-the-test');
      await admin.replicaof('127.0.0.1', primary.port);
    },
    expected: ['server', 'fail', /is a replica/],
  },
  'a login that may not do what is needed': {
    redis: ({ admin }) => admin.call('ACL', 'SETUSER', 'turnpike', '-zadd'),
    expected: ['work', 'fail', /^bans: refused \(ERR\)/],
  },
  'a login that may do more than is needed': {
    redis: ({ admin }) => admin.call('ACL', 'SETUSER', 'turnpike', '~*', '+@all'),
    expected: ['login', 'warn', /more than it needs/],
  },
  'no password': {
    redis: ({ admin }) => admin.call('ACL', 'SETUSER', 'default', 'nopass'),
    expected: ['login', 'warn', /without a password/],
  },
  'a Redis that is full': {
    redis: ({ admin }) => admin.config('SET', 'maxmemory', '1mb'),
    expected: ['memory', 'fail', /% of maxmemory/],
  },
  'gateways with another secret': {
    redis: pinUnderAnotherSecret,
    expected: ['secret', 'fail', /one session looked at were sealed with another secret/],
  },
  'a gateway that says it has another secret': {
    redis: (redis) => announce(redis, ['g1'], ['another']),
    expected: ['secret', 'fail', /^one gateway with another secret/],
  },
  'several gateways and exits that all of them use': {
    redis: (redis) => announce(redis, ['g1', 'g2']),
    config: { pools: { main: { upstreams: [{ url: 'http://10.0.0.1:1' }] } } },
    expected: ['sharing', 'warn', /every gateway uses every exit of main/],
  },
  'a monitoring that nobody answers': {
    parts: { metrics: new URL('http://127.0.0.1:1/metrics') },
    expected: ['metrics', 'warn', /ECONNREFUSED/],
  },
};

describe('S11 turnpike doctor', () => {
  it('passes a sane deployment, and ends with 0', async () => {
    const redis = await saneRedis();
    const sane = saneConfig(redis);
    const gateway = await stage.gateway([], { state: sane['state'], pools: sane['pools'] });
    const metrics = `http://127.0.0.1:${gateway.adminPort}/metrics`;
    await eventually('the gateway to share', async () =>
      /^turnpike_state_shared 1$/m.test(await gateway.metrics()),
    );
    const file = join(folder, 'sane.yaml');
    writeFileSync(file, stringify(sane));
    const output = keptOutput();
    const code = await run(['doctor', '--config', file, '--metrics', metrics, '--json'], output);
    const lines = JSON.parse(output.printed.join('\n')) as CheckLine[];
    expect(lines.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(code).toBe(0);
    expect(lines.map(({ check }) => check)).toEqual([
      ...['coordination', 'sharing', 'exits', 'leases', 'versions', 'detection', 'metrics'],
      ...['server', 'eviction', 'memory', 'persistence', 'ends', 'clients', 'load', 'clocks'],
      ...['address', 'login', 'tls', 'secret', 'work', 'atomicity', 'messages', 'latency'],
    ]);
    expect(lines.find(({ check }) => check === 'coordination')?.says).toContain('one gateway there');
  });

  it.each(Object.entries(seeds))('finds %s', async (_, { redis: spoil, config, parts, expected }) => {
    const redis = await saneRedis();
    await spoil?.(redis);
    const lines = await diagnose({ ...saneConfig(redis), ...config }, parts);
    const [check, level, says] = expected;
    const line = lines.find((each) => each.check === check);
    expect(line, JSON.stringify(lines, null, 1)).toMatchObject({ level, says: expect.stringMatching(says) });
    expect(line?.todo).not.toBe('');
    expect(JSON.stringify(lines)).not.toContain('CANARY');
  });

  it('finds two servers behind one address', async () => {
    const both = [await saneRedis(), await saneRedis()];
    const door = stage.keep(await inTurn(both.map(({ port }) => port)));
    const lines = await diagnose({ ...saneConfig(both[0] as RealRedis), state: stateAt(urlOf(door.port)) });
    expect(lines.find(({ check }) => check === 'address')).toMatchObject({
      level: 'fail',
      says: 'some connections led to 2 servers: gateways would not share anything',
    });
  });

  it('finds exclusive leases that two clients get both', async () => {
    const both = [await saneRedis(), await saneRedis()];
    // Each line has two connections, and all of a line must lead to one server.
    const door = stage.keep(await inTurn(both.flatMap(({ port }) => [port, port])));
    const place = singleAt(door.port, { username: 'turnpike', password: new Secret(PASSWORD) });
    const ask = { place, prefix: 'turnpike', secret: new Secret('a secret of the fleet') };
    const { trial } = await tryOut(ask, { clock: systemClock, random: systemRandom });
    expect(trial).toMatchObject({ refused: null, race: { tries: 64, both: 64, neither: 0 }, isHeard: false });
    expect(judgeTrial(trial)[1]).toMatchObject({ check: 'atomicity', level: 'fail' });
  });

  it('finds a node of a cluster that is named as if it were alone', async () => {
    const redis = await saneRedis(['--cluster-enabled', 'yes']);
    const lines = await diagnose(saneConfig(redis));
    expect(lines.find(({ check }) => check === 'server')).toMatchObject({
      level: 'fail',
      says: 'is a node of a cluster',
    });
  });

  it('S12 looks at each primary of a cluster, and at the one that Sentinels name', async () => {
    const [cluster, sentinels] = [stage.keep(await startCluster()), stage.keep(await startSentinels())];
    const at = ({ nodes }: RedisPlace): string[] => nodes.map(({ host, port }) => `${host}:${port}`);
    const places = [{ nodes: at(cluster.place) }, { sentinels: at(sentinels.place) }];
    for (const place of places) {
      const state = { kind: 'redis', ...place, secret: 'a secret of the fleet' };
      const lines = await diagnose({ ...saneConfig(sentinels.primary), state });
      const bad = lines.filter(({ level }) => level !== 'ok');
      expect(bad.map(({ check, level }) => `${check} ${level}`)).toEqual(['metrics warn', 'login warn']);
    }
    await cluster.nodes[1]?.admin.config('SET', 'maxmemory-policy', 'allkeys-lru', 'maxmemory', '1gb');
    const state = { kind: 'redis', nodes: at(cluster.place).slice(0, 1), secret: 'a secret of the fleet' };
    const lines = await diagnose({ ...saneConfig(sentinels.primary), state });
    expect(lines.find(({ check }) => check === 'eviction')).toMatchObject({
      level: 'fail',
      says: expect.stringContaining(`:${cluster.nodes[1]?.port}: maxmemory-policy allkeys-lru`),
    });
  });

  it('tells people what to do, and ends with 1 for a thought and with 2 for a fault', async () => {
    const file = join(folder, 'alone.yaml');
    const pools = { main: { upstreams: [{ url: 'http://10.0.0.1:1' }] } };
    const ends: [Settings, number][] = [
      [{ pools, listen: { admin: '127.0.0.1:1' } }, 1],
      [{ pools, listen: { admin: '127.0.0.1:1' }, cluster: { count: 2 } }, 2],
      [{ pools, timeouts: { dail: '1s' } }, 2],
    ];
    for (const [settings, code] of ends) {
      writeFileSync(file, stringify(settings));
      const output = keptOutput();
      expect(await run(['doctor', '--config', file], output), JSON.stringify(settings)).toBe(code);
      if (output.printed.length > 0)
        expect(output.printed.join('\n')).toMatch(/^warn +metrics[^\n]+\n +→ start it/m);
    }
    const output = keptOutput();
    expect(await run(['doctor', '--metrics', 'ftp://x'], output)).toBe(2);
  });
});
