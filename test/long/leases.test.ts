/** Leases and sessions of four gateways at length; in short in test/integration/sharing.test.ts. */
import { describe, expect, it, vi } from 'vitest';
import { at, FleetClient, metricOf, patiently, startFleet } from '../support/fleet.js';
import { handOver, idsOf, raceSessions, sumOf } from '../support/lease-rig.js';
import { overlaps } from '../support/logging-exits.js';
import type { ServeProcess } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';

vi.setConfig({ testTimeout: 1_800_000 });
const stage = createStage();
/** Leases that a gateway gave up by its clock, or gave back: too late, so that Redis refused it. */
async function goneFrom(gateway: ServeProcess): Promise<number> {
  const of = (event: string): Promise<number> => metricOf(gateway, `turnpike_leases_total{event="${event}"}`);
  return (await of('lost')) + (await of('released'));
}

const LEASES = Number(process.env['LEASES'] ?? 100_000);

describe('S2 100,000 exclusive leases of 4 gateway processes on 200 exits', () => {
  it('no exit is ever used by two, by the exits’ own logs', async () => {
    const fleet = await startFleet(stage, { gateways: 4, exits: 200, pool: { sharing: 'broker' } });
    const startMs = performance.now();
    const { leases, requests, statuses } = await handOver(stage, fleet, { leases: LEASES, atOnce: 60 });
    const tookS = (performance.now() - startMs) / 1000;
    const found = overlaps(fleet.exits.uses);
    const told = await sumOf(fleet, 'turnpike_leases_total{event="overlaps"}');
    process.stdout.write(
      `leases: ${leases} for ${requests} requests in ${tookS.toFixed(0)} s, ${fleet.exits.uses.length} uses, ` +
        `${found.length} overlaps; answers ${JSON.stringify([...statuses])}\n`,
    );
    expect(found).toEqual([]);
    expect(told).toBe(0);
    // Where all want the same exits, some wait in vain (timeouts.acquire); how many is printed, and no promise.
    expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(new Set(fleet.exits.uses.map(({ exit }) => exit)).size).toBe(200);
  });
});

describe('S2 a holder that is stopped beyond the time of its leases', () => {
  it('uses none of them again: what waits for it goes elsewhere or by a new lease', async () => {
    const pool = { sharing: 'broker', lease: { ttl: '2s', idle: '60s' } };
    const fleet = await startFleet(stage, { gateways: 4, exits: 20, pool });
    const client = stage.keep(new FleetClient());
    const ids = await idsOf(fleet);
    const get = (gateway: number, exit: string): ReturnType<FleetClient['get']> =>
      client.get(at(fleet, gateway), { headers: { 'x-turnpike-upstream': exit } });
    for (let round = 0; round < 5; round++) {
      for (const exit of ids) expect(await get(0, exit)).toMatchObject({ status: 200 });
      const held = await metricOf(at(fleet, 0), 'turnpike_leases_held');
      const gone = await goneFrom(at(fleet, 0));
      // What is more than its part of the pool it has given back.
      expect(held).toBeGreaterThan(0);
      fleet.exits.answerMs = 1;
      at(fleet, 0).child.kill('SIGSTOP');
      // These wait in the stopped gateway's sockets, and are the first that it sees.
      const late = ids.map((exit) => get(0, exit));
      for (const [n, exit] of ids.entries())
        await patiently('it to be free', async () => (await get(1 + (n % 3), exit)).status === 200);
      fleet.exits.answerMs = 100;
      const others = ids.map((exit, n) => get(1 + (n % 3), exit));
      at(fleet, 0).child.kill('SIGCONT');
      await Promise.all([...others, ...late]);
      expect(overlaps(fleet.exits.uses)).toEqual([]);
      expect((await goneFrom(at(fleet, 0))) - gone).toBeGreaterThanOrEqual(held);
    }
    expect(await sumOf(fleet, 'turnpike_leases_total{event="overlaps"}')).toBe(0);
  });
});

describe('S6 10,000 sessions whose first requests race on four gateway processes', () => {
  it('are each on one exit', async () => {
    const fleet = await startFleet(stage, { gateways: 4, exits: 200, pool: { strategy: 'round_robin' } });
    const { exits, bad } = await raceSessions(stage, fleet, { sessions: 10_000, atOnce: 20 });
    const more = [...exits.values()].filter(({ size }) => size > 1).length;
    process.stdout.write(
      `sessions: ${exits.size}, ${fleet.exits.uses.length} uses, ${more} on two exits, ${bad.length} failed\n`,
    );
    expect([more, bad, exits.size]).toEqual([0, [], 10_000]);
  });
});
