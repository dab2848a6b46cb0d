/** Several `turnpike serve` on one pool, of which each uses only what is its own: by leases, by ring, by number. */
import { describe, expect, it, vi } from 'vitest';
import {
  at,
  crawl,
  exitsOf,
  FleetClient,
  metricOf,
  patiently,
  percentile,
  startFleet,
} from '../support/fleet.js';
import { overlaps, startExits } from '../support/logging-exits.js';
import { handOver, raceSessions, sumOf } from '../support/lease-rig.js';
import { startServe } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';

vi.setConfig({ testTimeout: 180_000 });
const stage = createStage();

describe('S2 sharing: broker', () => {
  it('4 gateways, 200 exits, 5,000 requests: no exit is ever used by two, and few calls are made', async () => {
    const fleet = await startFleet(stage, { gateways: 4, exits: 200, pool: { sharing: 'broker' } });
    fleet.exits.answerMs = 5;
    const { statuses, tookMs } = await crawl(stage, fleet, { requests: 5000, atOnce: 10 });
    expect([...statuses]).toEqual([[200, 5000]]);
    expect(overlaps(fleet.exits.uses)).toEqual([]);
    const calls = await sumOf(fleet, 'turnpike_state_events_total{event="calls"}');
    const taken = await sumOf(fleet, 'turnpike_leases_total{event="taken"}');
    process.stdout.write(
      `broker: ${taken} leases, ${(calls / 5000).toFixed(3)} redis calls a request, ` +
        `p50 ${percentile(tookMs, 50).toFixed(0)} ms, max ${percentile(tookMs, 100).toFixed(0)} ms\n`,
    );
    expect(calls / 5000).toBeLessThanOrEqual(0.2);
    expect(new Set(fleet.exits.uses.map(({ exit }) => exit)).size).toBeGreaterThan(20);
  });

  it('exits that all gateways want go from hand to hand, and are never used by two', async () => {
    const fleet = await startFleet(stage, { gateways: 4, exits: 200, pool: { sharing: 'broker' } });
    const { leases, requests, statuses } = await handOver(stage, fleet, { leases: 1500, atOnce: 30 });
    process.stdout.write(`handed over: ${leases} leases for ${requests} requests\n`);
    expect([...statuses.keys()]).toEqual([200]);
    expect(overlaps(fleet.exits.uses)).toEqual([]);
    expect(new Set(fleet.exits.uses.map(({ exit }) => exit)).size).toBe(200);
  });

  it('S6 sessions whose requests come to all gateways at once: each on one exit, which goes from hand to hand', async () => {
    const fleet = await startFleet(stage, { gateways: 4, exits: 200, pool: { sharing: 'broker' } });
    const client = stage.keep(new FleetClient());
    const statuses = new Set<number>();
    const one = async (session: string): Promise<void> => {
      const pages = fleet.gateways.map((each) =>
        client.get(each, { url: `http://site.example/${session}`, session }),
      );
      for (const page of await Promise.all(pages)) statuses.add(page.status);
    };
    const sessions = Array.from({ length: 20 }, (_, n) => `s${n}`);
    for (let round = 0; round < 10; round++) await Promise.all(sessions.map(one));
    const exits = new Set(fleet.exits.uses.map(({ session, exit }) => `${session} ${exit}`));
    // While Redis is away a session may move: each gateway then goes by itself.
    const outages = await sumOf(fleet, 'turnpike_state_events_total{event="outages"}');
    expect([[...statuses], outages === 0 ? exits.size : 20]).toEqual([[200], 20]);
    if (outages === 0) expect(overlaps(fleet.exits.uses)).toEqual([]);
  });

  it('a gateway that slept longer than its leases uses none of them again', async () => {
    const lease = { ttl: '2s', idle: '60s' };
    const fleet = await startFleet(stage, { gateways: 2, exits: 1, pool: { sharing: 'broker', lease } });
    const client = stage.keep(new FleetClient());
    expect(await client.get(at(fleet, 0))).toMatchObject({ status: 200, body: 'exit-0' });
    expect(await metricOf(at(fleet, 0), 'turnpike_leases_held')).toBe(1);
    at(fleet, 0).child.kill('SIGSTOP');
    fleet.exits.answerMs = 300;
    await patiently('the exit to be free', async () => (await client.get(at(fleet, 1))).status === 200);
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
    await patiently('an exit to be free', async () => (await client.get(at(fleet, 1))).status === 200);
  });

  it('S6 sessions whose first requests race at all gateways are each on one exit', async () => {
    const pool = { strategy: 'round_robin' };
    const fleet = await startFleet(stage, { gateways: 4, exits: 200, pool });
    const { exits, bad } = await raceSessions(stage, fleet, { sessions: 500, atOnce: 10 });
    expect(bad).toEqual([]);
    expect([...exits.values()].filter(({ size }) => size > 1)).toEqual([]);
    expect(exits.size).toBe(500);
    expect(fleet.exits.uses).toHaveLength(2000);
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
    await patiently('both to serve', async () =>
      fleet.gateways.every((each) => exitsOf(fleet, each).size > 10),
    );
    const third = await fleet.join();
    await fleet.settled();
    await patiently('the third to serve', async () => {
      await run.also(third);
      return exitsOf(fleet, third).size > 10;
    });
    const first = at(fleet, 0);
    run.without(first);
    first.child.kill('SIGTERM');
    await first.ended;
    await fleet.settled();
    const sinceMs = performance.now();
    await patiently('the others to have all exits', async () => {
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
    const gateway = stage.keep(
      await startServe([], { pools: { main: pool }, cluster: { index: 1, count: 3 } }),
    );
    const client = stage.keep(new FleetClient());
    for (let n = 0; n < 8; n++) await client.get(gateway);
    expect([...new Set(exits.uses.map(({ exit }) => exit))].sort()).toEqual(['exit-1', 'exit-4']);
  });
});
