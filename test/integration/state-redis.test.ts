/** The shared state on real Redis servers of each kind, and what stands in them. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom, systemRandom } from '../../src/core/random.js';
import type { Member } from '../../src/facts/member.js';
import { pinKey } from '../../src/facts/pin.js';
import { RedisBans } from '../../src/state/redis/bans.js';
import type { RedisPlace } from '../../src/state/redis/client.js';
import { RedisLeases } from '../../src/state/redis/leases.js';
import { RedisLimits } from '../../src/state/redis/limits.js';
import { RedisMembers } from '../../src/state/redis/members.js';
import { RedisPins } from '../../src/state/redis/pins.js';
import { RedisTurns } from '../../src/state/redis/turns.js';
import { banWord } from '../contract/bans.js';
import {
  connected,
  leastRights,
  makeLink,
  passRedisMs,
  singleAt,
  startCluster,
  startRedis,
  startSentinels,
} from '../support/real-redis.js';
import type { RealRedis, TestLink } from '../support/real-redis.js';
import { eventually, waitFor } from '../support/wait.js';

const TTL_MS = 600_000;
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function storesOn({ link, keys }: TestLink) {
  closers.push(() => link.close());
  return {
    pins: new RedisPins(link, keys),
    bans: new RedisBans(link, keys, { random: systemRandom, keepMs: TTL_MS }),
    leases: new RedisLeases(link, keys, systemRandom),
    limits: new RedisLimits(link, keys),
    turns: new RedisTurns(link, keys, systemRandom),
    members: new RedisMembers(link, keys),
  };
}

const self: Member = { id: 'g1', version: '1.0.0', load: 0, keys: [] };

/** Every script once, over many buckets. */
async function smoke(line: TestLink): Promise<void> {
  const { pins, bans, leases, limits, turns, members } = storesOn(line);
  const many = Array.from({ length: 40 }, (_, n) => `u-${n}`);
  const bound = await Promise.all(many.map((exit) => pins.bind(`session of ${exit}`, exit, TTL_MS)));
  expect(bound).toHaveLength(40);
  const [first] = bound;
  if (first === undefined) return;
  await pins.move('session of u-0', first, { exit: 'u-x', ttlMs: TTL_MS });
  expect(await pins.find('session of u-0', TTL_MS)).toEqual({ exit: 'u-x', generation: 2 });
  expect([...(await pins.countOn(new Set(many)))]).toHaveLength(39);
  expect(await pins.drop('session of u-1')).toBe(true);
  await Promise.all(many.map((exit) => bans.put(banWord({ exit }))));
  const { bans: all, cursor } = await bans.changes(null);
  expect(all).toHaveLength(40);
  expect((await bans.changes(cursor)).bans).toEqual([]);
  const ask = { pool: 'p', ttlMs: 30_000, slots: 1 };
  const given = [];
  for (let n = 0; n < 40; n += 8)
    given.push(await leases.acquire({ ...ask, candidates: many.slice(n, n + 8) }));
  const held = given.filter((lease) => lease !== null);
  expect(await leases.renew(held, 30_000)).toEqual(held.map(() => true));
  expect(await leases.release(held)).toEqual(held.map(() => true));
  expect(await limits.take('k', { count: 5, perMs: 1e9 }, 7)).toMatchObject({ granted: 5 });
  const asked = await Promise.all(many.map((exit) => turns.take(exit, 30_000)));
  const ended = asked.map(async (answer) => answer.kind === 'taken' && turns.end(answer.turn, 1000));
  expect(await Promise.all(ended)).toEqual(many.map(() => true));
  expect(await members.announce(self, 5000)).toEqual([self]);
  await members.leave('g1');
  expect(await members.list()).toEqual([]);
  expect(line.link.counts).toMatchObject({ refusals: 0, ignored: 0, timeouts: 0 });
}

describe('S12 D04 each script runs on', () => {
  it('a server alone', async () => {
    const redis = await startRedis();
    closers.push(() => redis.close());
    await smoke(await connected(makeLink(singleAt(redis.port))));
  });

  it('a cluster of 3 + 3, and goes on after the loss of a primary', async () => {
    const cluster = await startCluster();
    closers.push(() => cluster.close());
    const line = await connected(makeLink(cluster.place));
    await smoke(line);
    const { pins } = storesOn(line);
    await cluster.nodes[1]?.close();
    const sessions = Array.from({ length: 60 }, (_, n) => `after ${n}`);
    const isWhole = async (): Promise<boolean> => {
      const done = await Promise.allSettled(sessions.map((session) => pins.bind(session, 'u-a', TTL_MS)));
      return done.every(({ status }) => status === 'fulfilled');
    };
    await eventually('the cluster to be whole', isWhole);
  });

  it('a primary behind Sentinels, and D01 follows it when it changes', async () => {
    const sentinels = await startSentinels();
    closers.push(() => sentinels.close());
    const line = await connected(makeLink(sentinels.place));
    await smoke(line);
    const { pins } = storesOn(line);
    await waitFor('the replica to be in step', () => sentinels.replica.admin.status === 'ready');
    await sentinels.primary.close();
    await eventually(
      'the new primary',
      async () => (await pins.bind('k', 'u-a', TTL_MS).catch(() => null)) !== null,
      45_000,
    );
    expect(await sentinels.replica.admin.role()).toContain('master');
  }, 60_000);
});

describe('what stands in Redis', () => {
  let redis: RealRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());
  const place = (): RedisPlace => singleAt(redis.port);

  it('Z no session, no client, no secret can be read there', async () => {
    const line = await connected(makeLink(place(), { secret: 'canary-secret' }));
    const { pins, limits, turns } = storesOn(line);
    const key = pinKey('canary-client', 'canary-session');
    await pins.bind(key, 'u-a', TTL_MS);
    await pins.move(key, { exit: 'u-a', generation: 1 }, { exit: 'u-b', ttlMs: TTL_MS });
    await limits.take('canary-client', { count: 1, perMs: 60_000 }, 1);
    await turns.take('u-a canary-site.example', TTL_MS);
    const names = (await redis.admin.keys(`${line.prefix}*`)).filter((name) => !name.includes('{probe'));
    const values = await Promise.all(names.map((name) => redis.admin.get(name)));
    expect(names.length).toBe(3);
    expect([...names, ...values].join('\n')).not.toContain('canary');
    const another = await connected(makeLink(place(), { prefix: line.prefix, secret: 'another' }));
    expect(await storesOn(another).pins.find(key, TTL_MS)).toBeNull();
    expect(await storesOn(another).pins.list({ after: null, limit: 9, client: null, exit: null })).toEqual(
      [],
    );
    expect(another.link.counts.ignored).toBe(1);
  });

  it('S12 works for a user who may do no more than it needs', async () => {
    const { admin } = redis;
    await admin.call('ACL', 'SETUSER', 'turnpike', 'reset', 'on', '>pw', ...leastRights('tp'));
    const { Secret } = await import('../../src/core/secret.js');
    const login = { username: 'turnpike', password: new Secret('pw') };
    await smoke(await connected(makeLink(singleAt(redis.port, login), { prefix: 'tp:limited' })));
  });

  it('Z 10,000 random values under our keys: ignored and counted, no crash, and sessions go on', async () => {
    const random = seededRandom(77);
    const line = await connected(makeLink(place(), { isPatient: true }));
    const stores = storesOn(line);
    const sessions = Array.from({ length: 200 }, (_, n) => `s${n}`);
    const refill = async (): Promise<void> => {
      await Promise.all(sessions.map((session) => stores.pins.bind(session, 'u-a', TTL_MS)));
      await Promise.all(sessions.slice(0, 40).map((_, n) => stores.bans.put(banWord({ exit: `u-${n}` }))));
      await stores.members.announce(self, 5000);
      await stores.limits.take('k', { count: 5, perMs: 1e9 }, 1);
      await stores.turns.take('k', TTL_MS);
      await stores.leases.acquire({ pool: 'p', candidates: ['u-a'], ttlMs: 1e6, slots: 9 });
    };
    await refill();
    const { admin } = redis;
    const names = (await admin.keys(`${line.prefix}*`)).sort();
    let changed = 0;
    while (changed < 10_000) {
      const some = admin.pipeline();
      for (let n = 0; n < 500; n++, changed++) poison(some, names[random.below(names.length)] ?? '', random);
      await some.exec();
      const asked = [
        ...sessions.map((session) => stores.pins.find(session, TTL_MS)),
        ...sessions.slice(0, 20).map((session) => stores.pins.bind(session, 'u-b', TTL_MS)),
        ...[stores.bans.changes(null), stores.bans.put(banWord()), stores.members.list()],
        ...[stores.limits.take('k', { count: 5, perMs: 1000 }, 1), stores.members.announce(self, 5000)],
        ...[stores.turns.take('k', 1000), stores.turns.end({ key: 'k', id: 'x' }, 1000)],
        stores.leases.acquire({ pool: 'p', candidates: ['u-a'], ttlMs: 1e6, slots: 9 }),
      ];
      await Promise.allSettled(asked);
    }
    expect(line.link.counts.ignored).toBeGreaterThan(1000);
    expect(line.link.counts.outages).toBe(0);
    expect(line.link.isUp).toBe(true);
    await Promise.all(sessions.map((session) => stores.pins.bind(session, 'u-z', TTL_MS)));
    const found = await Promise.all(sessions.map((session) => stores.pins.find(session, TTL_MS)));
    expect(found.every((pin) => pin !== null)).toBe(true);
  });

  it('S2 keeps no lease that ran out, nor any key of it', async () => {
    const line = await connected(makeLink(place(), { isShifted: true }));
    const { leases } = storesOn(line);
    await leases.acquire({ pool: 'p', candidates: ['u-a'], ttlMs: 30_000, slots: 1 });
    await passRedisMs(redis.admin, 30_001);
    expect(await redis.admin.keys(`${line.prefix}*:lease:*`)).toEqual([]);
  });
});

type Pipeline = ReturnType<RealRedis['admin']['pipeline']>;

/** Something else in the place of a value, or of one in it. */
function poison(pipeline: Pipeline, name: string, random: ReturnType<typeof seededRandom>): void {
  const texts = [
    '',
    '1|',
    '1|1|u-a|',
    '9|1|u-a|x',
    '1|99999999999|u-a|x',
    'nan',
    '1e308',
    '\u0000',
    '1|1|u a|\u00ff',
  ];
  const text =
    random.below(2) === 0 ? (texts[random.below(texts.length)] ?? '') : random.hex(random.below(40));
  if (name.endsWith(':words'))
    pipeline.hset(name, random.below(2) === 0 ? text : `u-${random.below(40)} shop.example`, text);
  else if (name.endsWith(':order')) pipeline.zadd(name, random.below(99), text);
  else if (name.endsWith(':values'))
    pipeline.hset(name, text, text).zadd(name.replace('values', 'ends'), 1e15, text);
  else if (name.endsWith(':ends') || name.includes(':lease:'))
    pipeline.zadd(name, random.below(2) * 1e15, text);
  else if (name.endsWith(':count')) pipeline.hset(name, random.below(2) === 0 ? 'epoch' : text, text);
  else pipeline.set(name, text, 'PX', TTL_MS);
}
