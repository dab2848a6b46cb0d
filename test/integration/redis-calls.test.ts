/** How often Redis is asked for a request, counted by Redis itself and printed: `npx vitest run test/integration/redis-calls.test.ts`. */
import { describe, expect, it, vi } from 'vitest';
import { at, crawl, FleetClient, patiently, startFleet } from '../support/fleet.js';
import { lineOf, redisCallsOf } from '../support/lease-rig.js';
import { createStage } from '../support/stage.js';

vi.setConfig({ testTimeout: 180_000 });
const stage = createStage();
const REQUESTS = 2000;
const EXITS = 60;

describe('S1 S2 S6 Redis calls per request', () => {
  it.each([
    ['strategy: hash', { sharing: 'none', strategy: 'hash', hash_on: 'url' }, 0],
    ['sharing: ring', { sharing: 'ring' }, 0],
    ['sharing: broker, steady', { sharing: 'broker' }, 0.2],
  ])('%s', async (what, pool, most) => {
    const fleet = await startFleet(stage, { gateways: 2, exits: EXITS, pool });
    const client = stage.keep(new FleetClient());
    for (const each of fleet.gateways)
      await patiently('it to serve', async () => (await client.get(each)).status === 200);
    await crawl(stage, fleet, { requests: REQUESTS / 2, atOnce: 4 });
    const urls = Array.from({ length: 50 }, (_, n) => `http://site.example/${n}`);
    const load = { requests: REQUESTS, atOnce: 4, urls };
    const seen = await redisCallsOf(fleet, async () => {
      expect([...(await crawl(stage, fleet, load)).statuses]).toEqual([[200, REQUESTS]]);
    });
    process.stdout.write(lineOf(what, seen, REQUESTS));
    expect(seen.calls / REQUESTS).toBeLessThanOrEqual(most);
  });

  it('a session that this gateway remembers', async () => {
    const fleet = await startFleet(stage, { gateways: 2, exits: EXITS, pool: { strategy: 'round_robin' } });
    const client = stage.keep(new FleetClient());
    const sessions = Array.from({ length: 20 }, (_, n) => `s${n}`);
    const ask = async (): Promise<void> => {
      const pages = await Promise.all(sessions.map((session) => client.get(at(fleet, 0), { session })));
      expect(pages.map(({ status }) => status)).toEqual(sessions.map(() => 200));
    };
    const first = await redisCallsOf(fleet, ask);
    expect(first.calls).toBeGreaterThan(0);
    const seen = await redisCallsOf(fleet, async () => {
      for (let n = 0; n < 50; n++) await ask();
    });
    process.stdout.write(lineOf('a new session', first, 20) + lineOf('a cached session', seen, 1000));
    expect(seen.calls).toBe(0);
  });
});
