/** What a gateway's line to Redis does when Redis, or the way to it, is broken in one of the ways in which it breaks. */
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { systemRandom } from '../../src/core/random.js';
import { Secret } from '../../src/core/secret.js';
import { BanNews } from '../../src/state/fallback/ban-news.js';
import { NearPins } from '../../src/state/fallback/pins.js';
import { StoreAway } from '../../src/state/ports.js';
import type { SharedBan } from '../../src/state/ports.js';
import { RedisBans } from '../../src/state/redis/bans.js';
import { RedisPins } from '../../src/state/redis/pins.js';
import { freePort } from '../support/launched-program.js';
import { startFaultProxy } from '../support/fault-proxy.js';
import { connected, makeLink, singleAt, startRedis } from '../support/real-redis.js';
import type { RealRedis, TestLink } from '../support/real-redis.js';
import { redisFaults } from '../support/redis-faults.js';
import { waitFor } from '../support/wait.js';

/** A request waits for one call of 200 ms and what the machine needs, never for two. */
const MOST_MS = 400;
const TTL_MS = 600_000;
const KEEP_MS = 3_600_000;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function aRedis(settings: readonly string[] = []): Promise<RealRedis> {
  const redis = await startRedis(settings);
  closers.push(() => redis.close());
  return redis;
}

/** One gateway's part of the shared state. */
class Gateway {
  readonly pins: NearPins;
  readonly news: BanNews;
  readonly applied: SharedBan[] = [];
  readonly changes: string[] = [];
  slowestMs = 0;

  constructor(
    readonly line: TestLink,
    by: string,
  ) {
    const { link, keys } = line;
    const far = new RedisPins(link, keys);
    this.pins = new NearPins({ far, clock: systemClock, isUp: () => link.isUp });
    const bans = new RedisBans(link, keys, { random: systemRandom, keepMs: KEEP_MS });
    const apply = (ban: SharedBan): void => void this.applied.push(ban);
    const parts = { bans, clock: systemClock, random: systemRandom, by, keepMs: KEEP_MS, apply };
    this.news = new BanNews(parts);
    link.listen({
      changed: (isUp, cause) => {
        this.changes.push(isUp ? 'up' : cause);
        if (isUp) void this.news.readAll();
      },
      subscribed: () => void this.news.poll(),
    });
    this.news.start();
    closers.push(() => {
      this.news.stop();
      link.close();
    });
  }

  /** A session that is new asks for its exit, as each first request does. */
  async firstRequest(session: string): Promise<void> {
    const startMs = performance.now();
    const found = await this.pins.find(session, TTL_MS);
    const pin = found ?? (await this.pins.bind(session, 'u-a', TTL_MS));
    expect(pin.exit).toBe('u-a');
    this.slowestMs = Math.max(this.slowestMs, performance.now() - startMs);
  }

  /** Keeps asking until it is so. */
  async until(what: string, isSo: () => boolean): Promise<void> {
    let count = 0;
    const endMs = performance.now() + 15_000;
    while (!isSo()) {
      if (performance.now() > endMs) throw new Error(`waited for ${what}`);
      await this.firstRequest(`${what} ${count++}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  ban(exit: string): void {
    this.news.say({ exit, site: 'shop.example', leftMs: 60_000, strikes: 1, reason: 'status 403' });
  }
}

async function twoGateways(redis: RealRedis, port = redis.port): Promise<[Gateway, Gateway]> {
  const near = await connected(makeLink(singleAt(port)));
  const other = await connected(makeLink(singleAt(redis.port), { prefix: near.prefix }));
  return [new Gateway(near, 'g1'), new Gateway(other, 'g2')];
}

describe('S3 D05 a fault of Redis costs one call of at most 200 ms, and nothing is lost', () => {
  it.each(redisFaults.filter(({ isOutage }) => isOutage))('$name', async ({ begin }) => {
    const redis = await aRedis();
    const proxy = await startFaultProxy(redis.port);
    closers.push(() => proxy.close());
    const [one, other] = await twoGateways(redis, proxy.port);
    await one.firstRequest('before');

    const mend = await begin(redis, proxy);
    await one.until('notice', () => one.changes.length > 0);
    one.ban('u-away');
    const { calls } = one.line.link.counts;
    await one.until('serve', () => one.changes.length > 0);
    expect(one.line.link.isUp).toBe(false);
    expect(one.news.waiting).toBe(1);
    for (let n = 0; n < 50; n++) await one.firstRequest(`away ${n}`);
    // Probes only: 50 sessions asked Redis nothing.
    expect(one.line.link.counts.calls - calls).toBeLessThan(20);

    const mendedMs = performance.now();
    await mend();
    await one.until('come back', () => one.line.link.isUp);
    await waitFor('nothing left to say', () => one.news.waiting === 0);
    await waitFor('the ban made while away', () => other.applied.some(({ exit }) => exit === 'u-away'));
    expect(performance.now() - mendedMs).toBeLessThan(8000);
    expect(one.slowestMs).toBeLessThan(MOST_MS);
  });
});

describe('D06 a start without Redis', () => {
  it('S3 begins degraded, serves by itself, and joins when Redis comes', async () => {
    const redis = await aRedis();
    const port = await freePort('127.0.0.1');
    const one = new Gateway(makeLink(singleAt(port)), 'g1');
    one.line.link.start();
    await one.firstRequest('a');
    one.ban('u-early');
    expect(one.line.link.isUp).toBe(false);
    const prefix = { prefix: one.line.prefix };
    const other = new Gateway(await connected(makeLink(singleAt(redis.port), prefix)), 'g2');
    await redis.admin.config('SET', 'port', String(port));
    await waitFor('the early ban', () => other.applied.some(({ exit }) => exit === 'u-early'));
    await one.firstRequest('a');
    expect(one.line.link.isUp).toBe(true);
    expect(await other.pins.find('a', TTL_MS)).toEqual({ exit: 'u-a', generation: 1 });
  });

  it('S3 a name that nobody knows, and a wrong password, are no more than that', async () => {
    const redis = await aRedis(['--requirepass', 'right']);
    const lost = makeLink(singleAt(6379, { nodes: [{ host: 'nowhere.invalid', port: 6379 }] }));
    const wrong = makeLink(singleAt(redis.port, { password: new Secret('wrong') }));
    for (const { link } of [lost, wrong]) {
      closers.push(() => link.close());
      link.start();
    }
    await waitFor('both causes', () => lost.link.cause !== 'untried' && wrong.link.cause !== 'untried');
    expect(lost.link.isUp || wrong.link.isUp).toBe(false);
    await expect(new RedisPins(lost.link, lost.keys).find('k', 1)).rejects.toBeInstanceOf(StoreAway);
    const right = await connected(makeLink(singleAt(redis.port, { password: new Secret('right') })));
    closers.push(() => right.link.close());
    expect(right.link.isUp).toBe(true);
  });
});

describe('scripts', () => {
  it('D05 NOSCRIPT after SCRIPT FLUSH costs nobody anything', async () => {
    const redis = await aRedis();
    const [one] = await twoGateways(redis);
    await one.firstRequest('a');
    await redis.admin.call('SCRIPT', 'FLUSH');
    await one.firstRequest('b');
    expect(one.line.link.counts).toMatchObject({ outages: 0, refusals: 0, timeouts: 0 });
    expect(await redis.admin.keys('*pins*')).toHaveLength(2);
  });

  it('S4 a Redis that was emptied is told again what gateways know', async () => {
    const redis = await aRedis();
    const [one, other] = await twoGateways(redis);
    one.ban('u-a');
    await waitFor('the ban', () => other.applied.length === 1);
    await redis.admin.flushall();
    await Promise.all([one.news.readAll(), other.news.readAll()]);
    await waitFor('the words again', () => one.news.waiting + other.news.waiting === 0);
    const { link, keys } = one.line;
    const bans = new RedisBans(link, keys, { random: systemRandom, keepMs: KEEP_MS });
    expect((await bans.changes(null)).bans).toMatchObject([{ exit: 'u-a', version: 1, by: 'g1' }]);
  });

  it('D10 no key of ours is without an end', async () => {
    const redis = await aRedis();
    const [one] = await twoGateways(redis);
    await one.firstRequest('a');
    one.ban('u-a');
    await waitFor('the ban', () => one.news.waiting === 0);
    for (const key of await redis.admin.keys('*'))
      expect(await redis.admin.pttl(key), key).toBeGreaterThan(0);
  });
});
