/** SECURITY 6: at three times what can be served, what was begun is finished, and the rest is told so at once. */
import { expect, it } from 'vitest';
import { headFor } from '../support/ask.js';
import { crawl, crawlAtRate, type Shot } from '../support/crawl-load.js';
import { startLoadExit } from '../support/load-exit.js';
import { residentMib, tell } from '../support/process-figures.js';
import { startServe } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
/** Each exit serves so many at once, and takes so long: that is what saturates, and not this machine. */
const [SLOTS, EXIT_MS] = [40, 80];
const page = headFor(`http://site.example/1000/${EXIT_MS}`);
const SECONDS = 10;

async function overload(port: number, perSecond: number) {
  const seen = { servedWithin: 0, refused: 0, other: 0, refusedMs: [] as number[], withoutTime: 0 };
  const onAnswer: Shot['onAnswer'] = (answer, ms, isWithin) => {
    if (answer?.status === 200) seen.servedWithin += isWithin ? 1 : 0;
    else if (answer?.status === 503) {
      seen.refused++;
      seen.refusedMs.push(ms);
      if (answer.retryAfter === null) seen.withoutTime++;
    } else seen.other++;
  };
  const shot = (): Shot => ({ head: page, onAnswer });
  const asked = await crawlAtRate({ port, perSecond, seconds: SECONDS, shot });
  return { ...seen, asked, perSecondServed: seen.servedWithin / SECONDS };
}

it('at 3 times saturation goodput stays, refusals are 503 with Retry-After, memory is bounded', async () => {
  const exit = stage.keep(await startLoadExit());
  const gateway = stage.keep(
    await startServe([], {
      pools: { main: { upstreams: [{ url: exit.url }], limits: { slots: SLOTS } } },
      limits: { exchanges: 2 * SLOTS },
      log: { level: 'error' },
    }),
  );
  const { port } = gateway;
  const run = { port, connections: SLOTS, head: () => page };
  await crawl({ ...run, requests: 1000 });
  const startMs = performance.now();
  expect(await crawl({ ...run, requests: 4000 })).toBe(0);
  const peak = 4000 / ((performance.now() - startMs) / 1000);
  const before = residentMib(gateway.pid);
  const seen = await overload(port, 3 * peak);
  const growth = residentMib(gateway.pid) - before;
  const sorted = seen.refusedMs.sort((a, b) => a - b);
  tell('3 times saturation', {
    'peak per s': peak,
    'asked per s': seen.asked / SECONDS,
    'served per s': seen.perSecondServed,
    'share of the peak %': (seen.perSecondServed / peak) * 100,
    refused: seen.refused,
    'refusal p50 ms': sorted[Math.floor(sorted.length / 2)] ?? 0,
    'refusal p99 ms': sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    'RSS growth MiB': growth,
  });
  expect(seen.other).toBe(0);
  expect(seen.withoutTime).toBe(0);
  expect(seen.refused).toBeGreaterThan(seen.asked / 2);
  expect(seen.perSecondServed).toBeGreaterThanOrEqual(0.9 * peak);
  expect(growth).toBeLessThanOrEqual(100);
}, 120_000);
