/** SECURITY 24 and 26, M01: a long crawl leaves nothing behind, neither memory nor sockets nor deadlines nor series. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { headFor } from '../support/ask.js';
import { crawl } from '../support/crawl-load.js';
import { LoadClient } from '../support/load-client.js';
import { startLoadExit } from '../support/load-exit.js';
import { openDescriptors } from '../support/probes.js';
import { residentMib, scrape, seriesIn, sumOf, tell } from '../support/process-figures.js';
import { startServe } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const page = headFor('http://site.example/1000');

/** What must be 0 when nothing is under way. */
const gauges = ['exchanges_open', 'tunnels_open', 'client_connections_open', 'upstream_connections_idle'].map(
  (name) => `turnpike_${name}`,
);

/** Slope of the best line through these points. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

describe('300,000 requests and 30,000 that are given up', () => {
  it('memory is flat; descriptors, deadlines and connections are back where they were', async () => {
    const exit = stage.keep(await startLoadExit());
    const gateway = stage.keep(
      await startServe([exit.url], { timeouts: { upstream_idle: '2s' }, log: { level: 'error' } }),
    );
    const { port } = gateway;
    const chance = seededRandom(24);
    /** Leaves before, during or after the answer, half of the time out of a tunnel. */
    const giveUp = async (nth: number): Promise<void> => {
      const client = new LoadClient({ port });
      await client.connected();
      const isTunnel = nth % 2 === 0;
      const head = isTunnel
        ? headFor('site.example:443', { method: 'CONNECT' })
        : headFor('http://site.example/200000/1');
      client.begin(head, () => undefined);
      await new Promise((resolve) => setTimeout(resolve, chance.below(30)));
      client.reset();
    };
    const round = async (requests: number, aborts: number): Promise<number> => {
      const givingUp = async (): Promise<void> => {
        for (let n = 0; n < aborts / 20; n++) await giveUp(n);
      };
      const [faults] = await Promise.all([
        crawl({ port, connections: 100, requests, head: () => page }),
        ...Array.from({ length: 20 }, givingUp),
      ]);
      return faults;
    };
    /**
     * V8 lets garbage pile up until its next large collection, which makes a saw of the memory; a crowd that comes and
     * goes is followed by one (app/reclaim.ts), and what is left then is held.
     */
    const collected = async (): Promise<void> => {
      const majors = async (): Promise<number> =>
        sumOf(await scrape(gateway), 'nodejs_gc_duration_seconds_count', 'major');
      const sofar = await majors();
      const crowd = Array.from({ length: 700 }, () => new LoadClient({ port }));
      await Promise.all(crowd.map((client) => client.connected()));
      for (const client of crowd) client.close();
      for (let n = 0; n < 100 && (await majors()) === sofar; n++)
        await new Promise((resolve) => setTimeout(resolve, 100));
    };
    const settled = async (): Promise<{ files: number; metrics: string }> => {
      await waitFor('the exit to be left alone', () => exit.open() === 0, 30_000);
      let metrics = '';
      let isOver = false;
      const look = async (): Promise<void> => {
        while (!isOver) {
          metrics = await scrape(gateway);
          isOver = gauges.every((gauge) => sumOf(metrics, gauge) === 0);
        }
      };
      void look();
      await waitFor('nothing to be under way', () => isOver, 30_000);
      return { files: openDescriptors(gateway.pid), metrics };
    };
    expect(await round(20_000, 2000)).toBe(0);
    const before = await settled();
    const points: [number, number][] = [];
    for (let n = 1; n <= 12; n++) {
      expect(await round(25_000, 2500)).toBe(0);
      await collected();
      points.push([n * 25_000, residentMib(gateway.pid)]);
    }
    const after = await settled();
    const warm = points.slice(3);
    const slope = slopeOf(warm) * 50_000;
    tell('300,000 requests and 30,000 aborts', {
      'RSS MiB after 25,000': points[0]?.[1] ?? 0,
      'after 100,000': warm[0]?.[1] ?? 0,
      'after 300,000': warm.at(-1)?.[1] ?? 0,
      'slope MiB per 50,000': slope.toFixed(2),
      files: `${before.files} before, ${after.files} after`,
      deadlines: `${sumOf(before.metrics, 'turnpike_deadlines')} before, ${sumOf(after.metrics, 'turnpike_deadlines')} after`,
    });
    expect(after.files).toBeLessThanOrEqual(before.files);
    expect(sumOf(after.metrics, 'turnpike_deadlines')).toBeLessThanOrEqual(
      sumOf(before.metrics, 'turnpike_deadlines') + 10,
    );
    expect(seriesIn(after.metrics)).toBe(seriesIn(before.metrics));
    expect(gateway.stderr()).not.toMatch(/Warning|Error/);
    expect(slope).toBeLessThan(1);
  }, 290_000);
});

describe('M01 100,000 hosts, sessions and users', () => {
  it('add no series', async () => {
    const exit = stage.keep(await startLoadExit());
    const gateway = stage.keep(await startServe([exit.url], { log: { level: 'error' } }));
    const head = (nth: number): string => {
      const login = Buffer.from(`user${nth}:x`).toString('base64');
      return headFor(`http://h${nth}.site${nth}.example/100`, {
        fields: [`X-Session-Id: s${nth}`, `Proxy-Authorization: Basic ${login}`],
      });
    };
    const visit = (requests: number, from: number): Promise<number> =>
      crawl({ port: gateway.port, connections: 50, requests, head: (nth) => head(from + nth) });
    expect(await visit(1000, 0)).toBe(0);
    const before = seriesIn(await scrape(gateway));
    expect(await visit(99_000, 1000)).toBe(0);
    const startMs = performance.now();
    const metrics = await scrape(gateway);
    const ms = performance.now() - startMs;
    tell('100,000 hosts, sessions and users', {
      series: `${before} before, ${seriesIn(metrics)} after`,
      'KiB of /metrics': metrics.length / 1024,
      'answered in ms': ms,
    });
    expect(seriesIn(metrics)).toBe(before);
    expect(metrics.length).toBeLessThanOrEqual(200 * 1024);
    expect(metrics).not.toMatch(/site\d|user\d/);
  }, 120_000);
});
