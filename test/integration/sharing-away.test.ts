/** Several `turnpike serve` on one pool: while Redis is away, and what they keep together. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { run } from '../../src/cli/run.js';
import { keptOutput } from '../cli/support.js';
import { askAdmin, tokens } from '../support/admin.js';
import {
  adminPortOf,
  at,
  crawl,
  exitsOf,
  FleetClient,
  metricOf,
  patiently,
  startFleet,
  type ProcessFleet,
} from '../support/fleet.js';
import { overlaps, startExits } from '../support/logging-exits.js';
import { freePort } from '../support/launched-program.js';
import { startServe } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';

vi.setConfig({ testTimeout: 180_000 });
const stage = createStage();

/** Makes Redis unreachable for all; returns what brings it back. */
async function takeRedisAway({ redis, gateways }: ProcessFleet): Promise<() => Promise<void>> {
  await redis.admin.config('SET', 'port', String(await freePort('127.0.0.1')));
  await redis.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  const areAlone = async (value: number): Promise<boolean> =>
    (await Promise.all(gateways.map((each) => metricOf(each, 'turnpike_sharing_alone')))).every(
      (each) => each === value,
    );
  await patiently('all to go on alone', () => areAlone(1));
  return async () => {
    await redis.admin.config('SET', 'port', String(redis.port));
    await patiently('all to be back', () => areAlone(0));
  };
}

/** What others had leased must have run out before a gateway uses it. */
const shortLeases = { sharing: 'broker', lease: { ttl: '2s' } };

describe('S3 on_redis_loss', () => {
  it('shard: each goes on with what it holds, then with its own part, sessions stay, and all is shared again when Redis is back', async () => {
    const fleet = await startFleet(stage, { gateways: 3, exits: 60, pool: shortLeases });
    fleet.exits.answerMs = 5;
    await crawl(stage, fleet, { requests: 300, atOnce: 4 });
    expect(overlaps(fleet.exits.uses)).toEqual([]);
    const bringBack = await takeRedisAway(fleet);
    const sinceMs = performance.now();
    const { statuses } = await crawl(stage, fleet, { requests: 600, atOnce: 4 });
    expect([...statuses]).toEqual([[200, 600]]);
    await patiently('each to have its part', async () => {
      await crawl(stage, fleet, { requests: 60, atOnce: 4 });
      return (
        new Set(fleet.exits.uses.filter(({ startMs }) => startMs >= sinceMs).map(({ exit }) => exit)).size ===
        60
      );
    });
    const partsMs = performance.now();
    await crawl(stage, fleet, { requests: 300, atOnce: 4 });
    const parts = fleet.gateways.map((each) => exitsOf(fleet, each, partsMs));
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
    const state = {
      kind: 'redis',
      url: `redis://127.0.0.1:${await freePort('127.0.0.1')}`,
      secret: 'a secret of the fleet',
    };
    const client = stage.keep(new FleetClient());
    const pools = { main: { upstreams: exits.urls.map((url) => ({ url })), ...shortLeases } };
    const parts = await Promise.all(
      [0, 1].map(async (index) => {
        const gateway = stage.keep(await startServe([], { pools, state, cluster: { index, count: 2 } }));
        await patiently('it to serve', async () => (await client.get(gateway)).status === 200);
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

describe('S9 what all gateways keep together', () => {
  it('the rate of a client holds over all, and /cluster and the command tell who is there', async () => {
    const clients = [{ name: 'crawler', password: 'pw', limits: { requests: '20/h' } }];
    const pool = { sharing: 'ring' };
    const fleet = await startFleet(stage, { gateways: 2, exits: 4, pool, config: { clients } });
    const client = stage.keep(new FleetClient());
    const headers = { 'proxy-authorization': `Basic ${Buffer.from('crawler:pw').toString('base64')}` };
    await patiently('each exit to have one owner', async () => {
      const own = await Promise.all(
        fleet.gateways.map((each) => metricOf(each, 'turnpike_exits_own{pool="main"}')),
      );
      return own.reduce((all, count) => all + count, 0) === 4;
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
