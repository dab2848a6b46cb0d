/** Figures of the shared state on a real Redis: printed, and of them asserted what does not depend on the machine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { seededRandom, systemRandom } from '../../src/core/random.js';
import { leaseBucket } from '../../src/facts/lease.js';
import { BanNews } from '../../src/state/fallback/ban-news.js';
import { NearPins } from '../../src/state/fallback/pins.js';
import { RedisBans } from '../../src/state/redis/bans.js';
import { RedisLeases } from '../../src/state/redis/leases.js';
import { RedisPins } from '../../src/state/redis/pins.js';
import { connected, makeLink, singleAt, startRedis, type RealRedis } from '../support/real-redis.js';
import { waitFor } from '../support/wait.js';

const KEEP_MS = 3_600_000;
let redis: RealRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.close());

function figures(name: string, ms: readonly number[]): void {
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
  process.stdout.write(`${name}: ${ms.length}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms\n`);
}

async function lines(count: number, prefix: string) {
  return Promise.all(
    Array.from({ length: count }, () => connected(makeLink(singleAt(redis.port), { prefix }))),
  );
}

describe('S4 how soon five gateways know of a ban', () => {
  it.each([
    ['with messages', true],
    ['with every message dropped', false],
  ])('%s', async (name, isHearing) => {
    const all = await lines(5, `bans-${isHearing}`);
    const saidMs = new Map<string, number>();
    const tookMs: number[] = [];
    const news = all.map(({ link, keys }, n) => {
      const bans = new RedisBans(link, keys, { random: systemRandom, keepMs: KEEP_MS });
      if (!isHearing) bans.listen = () => () => undefined;
      const apply = ({ exit }: { exit: string }): void =>
        void tookMs.push(performance.now() - (saidMs.get(exit) ?? 0));
      const parts = { bans, clock: systemClock, random: systemRandom, by: `g${n}`, keepMs: KEEP_MS, apply };
      return new BanNews(parts);
    });
    for (const each of news) each.start();
    const count = 500;
    for (let n = 0; n < count; n++) {
      const exit = `u-${n}`;
      saidMs.set(exit, performance.now());
      news[n % 5]?.say({ exit, site: 'shop.example', leftMs: 60_000, strikes: 1, reason: 'status 403' });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await waitFor('everybody to know', () => tookMs.length === count * 4);
    figures(`bans ${name}`, tookMs);
    for (const each of news) each.stop();
    const bytes = (await redis.admin.info('memory')).match(/used_memory:(\d+)/)?.[1];
    process.stdout.write(`redis memory: ${bytes} bytes\n`);
    for (const { link } of all) link.close();
  });
});

describe('S6 10,000 sessions whose first requests race on four gateways', () => {
  it('end on one exit each, and cost no call afterwards', async () => {
    const all = await lines(4, 'pins');
    const pins = all.map(
      ({ link, keys }) =>
        new NearPins({ far: new RedisPins(link, keys), clock: systemClock, isUp: () => link.isUp }),
    );
    const sessions = Array.from({ length: 10_000 }, (_, n) => `session ${n}`);
    const first = async (session: string, gateway: number): Promise<string> => {
      const near = pins[gateway];
      if (near === undefined) throw new Error('no gateway');
      const found = await near.find(session, 600_000);
      return (found ?? (await near.bind(session, `u-${gateway}`, 600_000))).exit;
    };
    for (let n = 0; n < sessions.length; n += 100) {
      const some = sessions.slice(n, n + 100);
      const exits = await Promise.all(some.map((s) => Promise.all(pins.map((_, g) => first(s, g)))));
      for (const each of exits) expect(new Set(each).size).toBe(1);
    }
    const calls = (): number => all.reduce((sum, { link }) => sum + link.counts.calls, 0);
    const before = calls();
    for (const near of pins) for (const session of sessions) await near.find(session, 600_000);
    expect(calls() - before).toBe(0);
    process.stdout.write(`redis calls: ${before} for 40,000 first requests, 0 for 40,000 more\n`);
    for (const { link } of all) link.close();
  });
});

describe('S2 100,000 exclusive leases by four gateways on 200 exits', () => {
  it('never overlap', async () => {
    const all = await lines(4, 'leases');
    const random = seededRandom(9);
    const byBucket = new Map<number, string[]>();
    for (let n = 0; n < 200; n++) {
      const exit = `u-${n}`;
      const bucket = leaseBucket(exit);
      byBucket.set(bucket, [...(byBucket.get(bucket) ?? []), exit]);
    }
    const buckets = [...byBucket.values()];
    const inUse = new Set<string>();
    let [given, overlaps, refused] = [0, 0, 0];
    const startMs = performance.now();
    const worker = async (leases: RedisLeases): Promise<void> => {
      while (given < 100_000) {
        const candidates = buckets[random.below(buckets.length)] ?? [];
        const lease = await leases.acquire({ pool: 'p', candidates, ttlMs: 30_000, slots: 1 });
        if (lease === null) {
          refused++;
          continue;
        }
        given++;
        if (inUse.has(lease.exit)) overlaps++;
        inUse.add(lease.exit);
        await new Promise((resolve) => setImmediate(resolve));
        inUse.delete(lease.exit);
        expect(await leases.release([lease])).toEqual([true]);
      }
    };
    const stores = all.map(({ link, keys }) => new RedisLeases(link, keys, systemRandom));
    await Promise.all(stores.flatMap((leases) => Array.from({ length: 30 }, () => worker(leases))));
    const tookS = (performance.now() - startMs) / 1000;
    process.stdout.write(
      `leases: ${given} given, ${refused} refused, ${overlaps} overlaps, ${tookS.toFixed(1)} s\n`,
    );
    expect(overlaps).toBe(0);
    for (const { link } of all) link.close();
  });
});
