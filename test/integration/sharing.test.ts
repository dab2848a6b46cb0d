/** Several `turnpike serve` on one pool, of which each uses only what is its own: by leases, by ring, by number. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.js';
import { keptOutput } from '../cli/support.js';
import { askAdmin, tokens } from '../support/admin.js';
import {
  adminPortOf,
  crawl,
  FleetClient,
  metricOf,
  overlaps,
  percentile,
  startExits,
  startFleet,
  type ProcessFleet,
} from '../support/fleet.js';
import { freePort } from '../support/launched-program.js';
import type { ServeProcess } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';
import { eventually } from '../support/wait.js';

const stage = createStage();

const sum = async (fleet: ProcessFleet, name: string): Promise<number> =>
  (await Promise.all(fleet.gateways.map((each) => metricOf(each, name)))).reduce(
    (all, each) => all + each,
    0,
  );

function at(fleet: ProcessFleet, n: number): ServeProcess {
  const gateway = fleet.gateways[n];
  if (gateway === undefined) throw new Error('no such gateway');
  return gateway;
}

const exitsOf = (fleet: ProcessFleet, gateway: ServeProcess, sinceMs = 0): Set<string> =>
  new Set(
    fleet.exits.uses
      .filter((use) => use.gateway === String(gateway.pid) && use.startMs >= sinceMs)
      .map(({ exit }) => exit),
  );

/** Makes Redis unreachable for all; returns what brings it back. */
async function takeRedisAway({ redis, gateways }: ProcessFleet): Promise<() => Promise<void>> {
  await redis.admin.config('SET', 'port', String(await freePort('127.0.0.1')));
  await redis.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  const areAlone = async (value: number): Promise<boolean> =>
    (await Promise.all(gateways.map((each) => metricOf(each, 'turnpike_sharing_alone')))).every(
      (each) => each === value,
    );
  await eventually('all to go on alone', () => areAlone(1));
  return async () => {
    await redis.admin.config('SET', 'port', String(redis.port));
    await eventually('all to be back', () => areAlone(0));
  };
}

describe('S2 sharing: broker', () => {
  it('4 gateways, 200 exits, 5,000 requests: no exit is ever used by two, and few calls are made', async () => {
    const fleet = await startFleet(stage, { gateways: 4, exits: 200, pool: { sharing: 'broker' } });
    fleet.exits.answerMs = 5;
    const { statuses, tookMs } = await crawl(stage, fleet, { requests: 5000, atOnce: 10 });
    expect([...statuses]).toEqual([[200, 5000]]);
    expect(overlaps(fleet.exits.uses)).toEqual([]);
    const calls = await sum(fleet, 'turnpike_state_events_total{event="calls"}');
    const taken = await sum(fleet, 'turnpike_leases_total{event="taken"}');
    process.stdout.write(
      `broker: ${taken} leases, ${(calls / 5000).toFixed(3)} redis calls a request, ` +
        `p50 ${percentile(tookMs, 50).toFixed(0)} ms, max ${percentile(tookMs, 100).toFixed(0)} ms\n`,
    );
    expect(calls / 5000).toBeLessThanOrEqual(0.2);
    expect(new Set(fleet.exits.uses.map(({ exit }) => exit)).size).toBeGreaterThan(20);
  });

  it('a gateway that slept longer than its leases uses none of them again', async () => {
    const lease = { ttl: '2s', idle: '60s' };
    const fleet = await startFleet(stage, { gateways: 2, exits: 1, pool: { sharing: 'broker', lease } });
    const client = stage.keep(new FleetClient());
    expect(await client.get(at(fleet, 0))).toMatchObject({ status: 200, body: 'exit-0' });
    expect(await metricOf(at(fleet, 0), 'turnpike_leases_held')).toBe(1);
    at(fleet, 0).child.kill('SIGSTOP');
    fleet.exits.answerMs = 300;
    await eventually('the exit to be free', async () => (await client.get(at(fleet, 1))).status === 200);
    const others = client.get(at(fleet, 1));
    at(fleet, 0).child.kill('SIGCONT');
    const late = client.get(at(fleet, 0));
    await Promise.all([others, late, client.get(at(fleet, 1)), client.get(at(fleet, 1))]);
    expect(overlaps(fleet.exits.uses)).toEqual([]);
    expect(await metricOf(at(fleet, 0), 'turnpike_leases_total{event="lost"}')).toBe(1);
  });

  it('what a gateway had that was killed is free after the time of its leases', async () => {
    const lease = { ttl: '1s', idle: '60s' };
    const fleet = await startFleet(stage, { gateways: 2, exits: 3, pool: { sharing: 'broker', lease } });
    const client = stage.keep(new FleetClient());
    fleet.exits.answerMs = 100;
    const all = await Promise.all([0, 1, 2].map(() => client.get(at(fleet, 0))));
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    at(fleet, 0).child.kill('SIGKILL');
    await eventually('an exit to be free', async () => (await client.get(at(fleet, 1))).status === 200);
  });

  it('S6 a session goes on at any gateway, on the exit that is handed over', async () => {
    const fleet = await startFleet(stage, { gateways: 3, exits: 30, pool: { sharing: 'broker' } });
    const client = stage.keep(new FleetClient());
    const sessions = Array.from({ length: 20 }, (_, n) => `s${n}`);
    const seen = new Map<string, Set<string>>();
    for (const gateway of [...fleet.gateways, ...fleet.gateways]) {
      const pages = await Promise.all(sessions.map((session) => client.get(gateway, { session })));
      expect(pages.map(({ status }) => status)).toEqual(sessions.map(() => 200));
      pages.forEach(({ body }, n) => seen.set(`s${n}`, (seen.get(`s${n}`) ?? new Set()).add(body)));
    }
    expect([...seen.values()].map(({ size }) => size)).toEqual(sessions.map(() => 1));
    expect(overlaps(fleet.exits.uses)).toEqual([]);
  });
});

describe('S1 sharing: ring', () => {
  it('gateways that join and leave never use an exit that is still another’s, and none makes a call for it', async () => {
    const fleet = await startFleet(stage, { gateways: 2, exits: 60, pool: { sharing: 'ring' } });
    fleet.exits.answerMs = 20;
    const run = crawl(stage, fleet, { requests: Infinity, atOnce: 6 });
    await eventually('both to serve', async () =>
      fleet.gateways.every((each) => exitsOf(fleet, each).size > 10),
    );
    const third = await fleet.join();
    await fleet.settled();
    await eventually('the third to serve', async () => {
      await run.also(third);
      return exitsOf(fleet, third).size > 10;
    });
    const first = at(fleet, 0);
    run.without(first);
    first.child.kill('SIGTERM');
    await first.ended;
    await fleet.settled();
    const sinceMs = performance.now();
    await eventually('the others to have all exits', async () => {
      const own = [at(fleet, 1), third].map((each) => exitsOf(fleet, each, sinceMs));
      return own.every(({ size }) => size > 0) && own.reduce((all, { size }) => all + size, 0) === 60;
    });
    await run.end();
    expect(overlaps(fleet.exits.uses)).toEqual([]);
    expect(await metricOf(third, 'turnpike_leases_total{event="taken"}')).toBe(0);
    const [second = 0, ofThird = 0] = await Promise.all(
      [at(fleet, 1), third].map((each) => metricOf(each, 'turnpike_exits_own{pool="main"}')),
    );
    expect(second + ofThird).toBe(60);
  });
});

describe('S1 sharing: modulo', () => {
  it('each gateway uses every n-th exit, Redis or not', async () => {
    const exits = stage.keep(await startExits(6));
    const pool = { upstreams: exits.urls.map((url) => ({ url })), sharing: 'modulo' };
    const { startServe } = await import('../support/serve-process.js');
    const gateway = stage.keep(
      await startServe([], { pools: { main: pool }, cluster: { index: 1, count: 3 } }),
    );
    const client = stage.keep(new FleetClient());
    for (let n = 0; n < 8; n++) await client.get(gateway);
    expect([...new Set(exits.uses.map(({ exit }) => exit))].sort()).toEqual(['exit-1', 'exit-4']);
  });
});

describe('S3 on_redis_loss', () => {
  it('shard: each goes on with its own part, sessions stay, and all is shared again when Redis is back', async () => {
    const fleet = await startFleet(stage, { gateways: 3, exits: 60, pool: { sharing: 'broker' } });
    fleet.exits.answerMs = 5;
    await crawl(stage, fleet, { requests: 300, atOnce: 4 });
    expect(overlaps(fleet.exits.uses)).toEqual([]);
    const bringBack = await takeRedisAway(fleet);
    const sinceMs = performance.now();
    const { statuses } = await crawl(stage, fleet, { requests: 600, atOnce: 4 });
    expect([...statuses]).toEqual([[200, 600]]);
    const parts = fleet.gateways.map((each) => exitsOf(fleet, each, sinceMs));
    const all = parts.reduce((sizes, { size }) => sizes + size, 0);
    expect(new Set(parts.flatMap((part) => [...part])).size).toBe(all);
    expect(all).toBe(60);
    expect(overlaps(fleet.exits.uses)).toEqual([]);
    await bringBack();
    const again = await crawl(stage, fleet, { requests: 300, atOnce: 4 });
    expect([...again.statuses]).toEqual([[200, 300]]);
    expect(overlaps(fleet.exits.uses)).toEqual([]);
  });

  it('fail refuses, reserve:POOL takes another pool, and a ready gateway stays ready', async () => {
    const reserve = stage.keep(await startExits(1));
    const pool = { sharing: 'broker', on_redis_loss: 'reserve:spare' };
    const fleet = await startFleet(stage, {
      ...{ gateways: 1, exits: 2, pool },
      more: (urls) => ({
        spare: { upstreams: reserve.urls.map((url) => ({ url })) },
        strict: { upstreams: urls.map((url) => ({ url })), sharing: 'broker', on_redis_loss: 'fail' },
      }),
      config: {
        routes: [
          { match: { site: 'strict.example' }, pools: ['strict'] },
          { match: {}, pools: ['main'] },
        ],
      },
    });
    const client = stage.keep(new FleetClient());
    const get = async (site: string): Promise<number> =>
      (await client.get(at(fleet, 0), { url: `http://${site}/` })).status;
    expect([await get('strict.example'), await get('site.example')]).toEqual([200, 200]);
    const bringBack = await takeRedisAway(fleet);
    expect([await get('strict.example'), await get('site.example')]).toEqual([503, 200]);
    expect(reserve.uses.map(({ site }) => site)).toEqual(['site.example']);
    await bringBack();
    expect([await get('strict.example'), await get('site.example')]).toEqual([200, 200]);
    expect(reserve.uses).toHaveLength(1);
  });

  it('D06 a gateway that starts without Redis has the part that cluster.count leaves it', async () => {
    const exits = stage.keep(await startExits(40));
    const { startServe } = await import('../support/serve-process.js');
    const state = {
      kind: 'redis',
      url: `redis://127.0.0.1:${await freePort('127.0.0.1')}`,
      secret: 'a secret of the fleet',
    };
    const client = stage.keep(new FleetClient());
    const pools = { main: { upstreams: exits.urls.map((url) => ({ url })), sharing: 'broker' } };
    const parts = await Promise.all(
      [0, 1].map(async (index) => {
        const gateway = stage.keep(await startServe([], { pools, state, cluster: { index, count: 2 } }));
        await eventually('it to serve', async () => (await client.get(gateway)).status === 200);
        for (let n = 0; n < 40; n++) await client.get(gateway);
        return new Set(
          exits.uses.filter((use) => use.gateway === String(gateway.pid)).map(({ exit }) => exit),
        );
      }),
    );
    const [one = new Set<string>(), other = new Set<string>()] = parts;
    expect(one.size + other.size).toBe(40);
    expect([...one].filter((exit) => other.has(exit))).toEqual([]);
  });
});

describe('S1 partition: by_site_group', () => {
  it('no exit is ever seen by two groups, also while gateways join and leave', async () => {
    const pool = {
      sharing: 'ring',
      partition: 'by_site_group',
      site_groups: [
        { name: 'shops', sites: ['shop.example', 'store.example'] },
        { name: 'news', sites: ['news.example'] },
      ],
    };
    const fleet = await startFleet(stage, { gateways: 2, exits: 60, pool });
    const urls = ['www.shop.example', 'store.example', 'news.example', 'any.example'].map(
      (site) => `http://${site}/`,
    );
    const run = crawl(stage, fleet, { requests: Infinity, atOnce: 4, urls, session: 'one' });
    const third = await fleet.join();
    await fleet.settled();
    await run.also(third);
    await eventually('the third to serve', async () => exitsOf(fleet, third).size > 5);
    run.without(third);
    third.child.kill('SIGTERM');
    await third.ended;
    await run.end();
    const groupOf = (site: string): string =>
      site.includes('shop') || site.includes('store') ? 'shops' : site.includes('news') ? 'news' : 'other';
    const groups = new Map<string, Set<string>>();
    for (const { exit, site } of fleet.exits.uses)
      groups.set(exit, (groups.get(exit) ?? new Set()).add(groupOf(site)));
    expect([...groups.values()].map(({ size }) => size).filter((size) => size > 1)).toEqual([]);
    expect(new Set([...groups.values()].flatMap((each) => [...each])).size).toBe(3);
  });
});

describe('S9 what all gateways keep together', () => {
  it('the rate of a client holds over all, and /cluster and the command tell who is there', async () => {
    const clients = [{ name: 'crawler', password: 'pw', limits: { requests: '20/h' } }];
    const pool = { sharing: 'ring' };
    const fleet = await startFleet(stage, { gateways: 2, exits: 4, pool, config: { clients } });
    const client = stage.keep(new FleetClient());
    const headers = { 'proxy-authorization': `Basic ${Buffer.from('crawler:pw').toString('base64')}` };
    await eventually('both to have exits of their own', async () => {
      const own = await Promise.all(
        fleet.gateways.map((each) => metricOf(each, 'turnpike_exits_own{pool="main"}')),
      );
      return own.every((count) => count > 0) && own.reduce((all, count) => all + count, 0) === 4;
    });
    const pages = await Promise.all(
      Array.from({ length: 30 }, (_, n) => client.get(at(fleet, n % 2), { headers })),
    );
    const served = pages.filter(({ status }) => status === 200);
    expect([served.length, pages.filter(({ status }) => status === 429).length]).toEqual([20, 10]);
    const port = adminPortOf(at(fleet, 0));
    const { body: exits } = await askAdmin(port, '/api/v1/upstreams');
    const exit = exits.items[0].id as string;
    const { status, body } = await askAdmin(port, `/api/v1/cluster?exit=${exit}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ state: 'shared', sharing: 'shared', leases: { held: 0 } });
    expect(body.members.filter(({ self }: { self: boolean }) => self)).toHaveLength(1);
    expect(body.members).toHaveLength(2);
    const ids = body.members.map(({ id }: { id: string }) => id) as string[];
    expect(ids).toContain(body.owners[0].owner);
    const file = join(mkdtempSync(join(tmpdir(), 'turnpike-cluster-')), 'token');
    writeFileSync(file, tokens.admin);
    const output = keptOutput();
    const where = ['--admin', at(fleet, 0).admin, '--token-file', file];
    expect(await run(['cluster', '--exit', exit, ...where], output)).toBe(0);
    rmSync(dirname(file), { recursive: true });
    const said = output.printed.join('\n');
    for (const word of [...ids, 'main', 'ring', `main: ${body.owners[0].owner}`])
      expect(said).toContain(word);
  });
});
