/**
 * Real redis-servers for tests: one alone, one behind Sentinels, a cluster; and a way to let their time pass. Started on
 * free ports, without persistence, ended with the test.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { systemClock, type Clock } from '../../src/core/clock.js';
import { systemRandom } from '../../src/core/random.js';
import { Secret } from '../../src/core/secret.js';
import type { RedisPlace } from '../../src/state/redis/client.js';
import { RedisKeys } from '../../src/state/redis/keys.js';
import { Link } from '../../src/state/redis/link.js';
import { loadScripts } from '../../src/state/redis/scripts.js';
import { freePort, launch } from './launched-program.js';
import type { LaunchedProgram } from './launched-program.js';
import { eventually, waitFor } from './wait.js';

const HOST = '127.0.0.1';
const PASSED = 'test:passed-ms';

/** A running server with a client for the test's own questions. */
export interface RealRedis {
  readonly port: number;
  readonly pid: number;
  readonly admin: Redis;
  close(): Promise<void>;
}

/** Starts one server. @param settings as on its command line */
export async function startRedis(settings: readonly string[] = []): Promise<RealRedis> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-redis-'));
  const program = await launch({
    programs: ['redis-server'],
    host: HOST,
    prepare: (port) => [
      ...['--port', String(port), '--bind', HOST, '--save', '', '--appendonly', 'no', '--dir', folder],
      ...settings,
    ],
  });
  const admin = new Redis({ host: HOST, port: program.port, protocol: 2 });
  admin.on('error', () => undefined);
  return {
    ...{ port: program.port, pid: program.pid, admin },
    close: async () => {
      admin.disconnect();
      await program.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Where one server is. */
export function singleAt(port: number, changes: Partial<RedisPlace> = {}): RedisPlace {
  return {
    ...{ kind: 'single', nodes: [{ host: HOST, port }], primary: 'turnpike', username: null, password: null },
    ...{ tls: false, db: 0 },
    ...changes,
  };
}

/** The rights that docs/scaling.md gives a login, for another prefix. */
export function leastRights(prefix: string): string[] {
  const text = readFileSync(new URL('../../docs/scaling.md', import.meta.url), 'utf8');
  const block = /ACL SETUSER turnpike on >PASSWORD ([^`]+)/.exec(text)?.[1];
  if (block === undefined) throw new Error('docs/scaling.md gives no rights');
  return block.trim().replaceAll('turnpike:', `${prefix}:`).split(/\s+/);
}

/** Every reading of the time in a script with what the test let pass on top. */
function shifted(lua: string): string {
  const passed = `tonumber(redis.call('GET', '${PASSED}') or '0')`;
  const time = `(function() local t = redis.call('TIME') local us = t[1] * 1000000 + t[2] + ${passed} * 1000
    return { math.floor(us / 1000000), us % 1000000 } end)()`;
  return lua.replaceAll("redis.call('TIME')", time);
}

/** Lets time pass in a server: for keys that expire, and for scripts of a link that is `isShifted`. */
export async function passRedisMs(admin: Redis, ms: number): Promise<void> {
  await admin.incrby(PASSED, ms);
  for (const key of await admin.keys('*')) {
    const leftMs = await admin.pttl(key);
    if (key === PASSED || leftMs < 0) continue;
    if (leftMs <= ms) await admin.del(key);
    else await admin.pexpire(key, leftMs - ms);
  }
}

/** For tests of what is done, not of how soon, on a machine that has much else to do. */
const patientClock: Clock = { ...systemClock, after: (ms, fn) => systemClock.after(ms * 20, fn) };

let prefixes = 0;

/** A line to a Redis with a prefix of its own. */
export interface TestLink {
  readonly link: Link;
  readonly keys: RedisKeys;
  readonly prefix: string;
}

/** Makes a line that is not started. */
export function makeLink(
  place: RedisPlace,
  parts: { prefix?: string; isShifted?: boolean; isPatient?: boolean; secret?: string } = {},
): TestLink {
  const {
    prefix = `t${process.pid}-${++prefixes}`,
    isShifted = false,
    secret = 'a secret of the fleet',
  } = parts;
  const keys = new RedisKeys(prefix, new Secret(secret), systemRandom);
  const link = new Link({
    ...{ place, clock: parts.isPatient === true ? patientClock : systemClock, random: systemRandom },
    scripts: loadScripts(isShifted ? shifted : undefined),
    channels: [keys.banChannel, keys.pinChannel, keys.wantedChannel],
    probeKey: (turn) => keys.probe(turn),
  });
  return { link, keys, prefix };
}

/** Starts a line, and waits until it is up and hears. */
export async function connected(made: TestLink): Promise<TestLink> {
  let isHearing = false;
  made.link.listen({ subscribed: () => (isHearing = true) });
  made.link.start();
  await waitFor('the line to Redis', () => made.link.isUp && isHearing);
  return made;
}

/** Three primaries and three replicas. */
export async function startCluster(): Promise<{
  place: RedisPlace;
  nodes: RealRedis[];
  close(): Promise<void>;
}> {
  const nodes: RealRedis[] = [];
  for (let n = 0; n < 6; n++) {
    const bus = await freePort(HOST);
    nodes.push(
      await startRedis([
        ...['--cluster-enabled', 'yes', '--cluster-port', String(bus), '--cluster-node-timeout', '2000'],
        ...['--cluster-replica-validity-factor', '0'],
      ]),
    );
  }
  const [first] = nodes;
  if (first === undefined) throw new Error('no node');
  const ids = await Promise.all(nodes.map(({ admin }) => admin.call('CLUSTER', 'MYID')));
  for (const { admin, port } of nodes) {
    const [, bus] = await admin.config('GET', 'cluster-port');
    await first.admin.call('CLUSTER', 'MEET', HOST, String(port), String(bus));
  }
  for (let n = 0; n < 3; n++) {
    const from = Math.floor((16384 * n) / 3);
    const to = Math.floor((16384 * (n + 1)) / 3) - 1;
    await nodes[n]?.admin.call('CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
  }
  await settled(nodes, (info) => info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:6'));
  for (let n = 3; n < 6; n++) await nodes[n]?.admin.call('CLUSTER', 'REPLICATE', String(ids[n - 3]));
  await Promise.all(
    nodes.slice(3).map(async ({ admin }) => {
      for (;;) if (/master_link_status:up/.test(await admin.info('replication'))) return;
    }),
  );
  const place = singleAt(first.port, {
    kind: 'cluster',
    nodes: nodes.map(({ port }) => ({ host: HOST, port })),
  });
  return { place, nodes, close: async () => void (await Promise.all(nodes.map((node) => node.close()))) };
}

async function settled(nodes: readonly RealRedis[], isSo: (info: string) => boolean): Promise<void> {
  const endMs = performance.now() + 20_000;
  for (;;) {
    const infos = await Promise.all(nodes.map(({ admin }) => admin.call('CLUSTER', 'INFO')));
    if (infos.every((info) => isSo(String(info)))) return;
    if (performance.now() > endMs) throw new Error(`the cluster did not settle:\n${infos.join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Until it knows replica and colleagues, a Sentinel has nothing to choose from and nobody to agree with. */
async function knowsAll(port: number): Promise<void> {
  const sentinel = new Redis({ host: HOST, port, protocol: 2 });
  sentinel.on('error', () => undefined);
  await eventually('a Sentinel to know all', async () => {
    const facts = String(await sentinel.call('SENTINEL', 'MASTER', 'turnpike'));
    return facts.includes('num-slaves,1,') && facts.includes('num-other-sentinels,2,');
  });
  sentinel.disconnect();
}

/** A primary, a replica and three Sentinels. */
export async function startSentinels(): Promise<{
  place: RedisPlace;
  primary: RealRedis;
  replica: RealRedis;
  close(): Promise<void>;
}> {
  const primary = await startRedis();
  const replica = await startRedis(['--replicaof', `${HOST} ${primary.port}`]);
  const sentinels: LaunchedProgram[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-sentinel-'));
  for (let n = 0; n < 3; n++) {
    const file = join(folder, `sentinel-${n}.conf`);
    sentinels.push(
      await launch({
        programs: ['redis-server'],
        host: HOST,
        prepare: (port) => {
          const lines = [
            `port ${port}`,
            `bind ${HOST}`,
            `dir ${folder}`,
            `sentinel monitor turnpike ${HOST} ${primary.port} 2`,
            'sentinel down-after-milliseconds turnpike 1000',
            // An election without a winner is held again after twice this.
            'sentinel failover-timeout turnpike 1000',
          ];
          writeFileSync(file, `${lines.join('\n')}\n`);
          return [file, '--sentinel'];
        },
      }),
    );
  }
  const nodes = sentinels.map(({ port }) => ({ host: HOST, port }));
  for (const { port } of nodes) await knowsAll(port);
  const close = async (): Promise<void> => {
    await Promise.all([...sentinels, primary, replica].map((each) => each.close()));
    rmSync(folder, { recursive: true, force: true });
  };
  return { place: singleAt(primary.port, { kind: 'sentinel', nodes }), primary, replica, close };
}
