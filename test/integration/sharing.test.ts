/** Several `turnpike serve` on one pool, of which each uses only what is its own: by leases, by ring, by number. */
import { describe, expect, it } from 'vitest';
import {
  FleetClient,
  metricOf,
  overlaps,
  percentile,
  startFleet,
  type ProcessFleet,
} from '../support/fleet.js';
import { createStage } from '../support/stage.js';
import { eventually, waitFor } from '../support/wait.js';

const stage = createStage();
const client = stage.keep.bind(stage);

/** Sends so many requests to all gateways, so many at a time to each. */
async function crawl(
  fleet: ProcessFleet,
  requests: number,
  atOnce: number,
): Promise<{ statuses: Map<number, number>; tookMs: number[] }> {
  const crawler = client(new FleetClient());
  const statuses = new Map<number, number>();
  const tookMs: number[] = [];
  let left = requests;
  const worker = async (n: number): Promise<void> => {
    const gateway = fleet.gateways[n % fleet.gateways.length];
    while (left-- > 0 && gateway !== undefined) {
      const page = await crawler.get(gateway);
      statuses.set(page.status, (statuses.get(page.status) ?? 0) + 1);
      tookMs.push(page.tookMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce * fleet.gateways.length }, (_, n) => worker(n)));
  return { statuses, tookMs };
}

const sum = async (fleet: ProcessFleet, name: string): Promise<number> =>
  (await Promise.all(fleet.gateways.map((each) => metricOf(each, name)))).reduce(
    (all, each) => all + each,
    0,
  );

describe('S2 sharing: broker', () => {
  it('4 gateways, 200 exits, 5,000 requests: no exit is ever used by two, and few calls are made', async () => {
    const fleet = await startFleet(stage, { gateways: 4, exits: 200, pool: { sharing: 'broker' } });
    fleet.exits.answerMs = 5;
    const { statuses, tookMs } = await crawl(fleet, 5000, 10);
    expect([...statuses]).toEqual([[200, 5000]]);
    expect(overlaps(fleet.exits.uses)).toEqual([]);
    const calls = await sum(fleet, 'turnpike_state_events_total{event="calls"}');
    const taken = await sum(fleet, 'turnpike_leases_total{event="taken"}');
    process.stdout.write(
      `broker: ${taken} leases, ${(calls / 5000).toFixed(3)} redis calls a request, ` +
        `p50 ${percentile(tookMs, 50).toFixed(0)} ms, max ${percentile(tookMs, 100).toFixed(0)} ms\n`,
    );
    expect(new Set(fleet.exits.uses.map(({ exit }) => exit)).size).toBeGreaterThan(20);
  });
});
void [eventually, waitFor];
