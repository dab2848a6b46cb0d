/** X06 with a process that is really out of descriptors: it lives, says so, blames no exit, and serves again at once. */
import { describe, expect, it } from 'vitest';
import { LoadClient, type LoadAnswer } from '../support/load-client.js';
import { startLoadExit } from '../support/load-exit.js';
import { openDescriptors } from '../support/probes.js';
import { scrape, sumOf, tell } from '../support/process-figures.js';
import { startServe } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const OPEN_FILES = 256;
const head = (method: string, target: string): string =>
  `${method} ${target} HTTP/1.1\r\nHost: site.example\r\n\r\n`;
const page = head('GET', 'http://site.example/100');

describe('ulimit -n 256 and 1,000 connections', () => {
  it.each([
    // A FIN behind a whole request is a half-close, so these have to reset.
    ['requests that hang', head('GET', 'http://site.example/100/60000'), 'reset'],
    ['tunnels', head('CONNECT', 'site.example:443'), 'close'],
    ['requests, each kept alive', page, 'close'],
  ] as const)(
    '%s: no crash, no failed accept, 503 with Retry-After, served again when they leave',
    async (name, ask, leave) => {
      const exit = stage.keep(await startLoadExit());
      const gateway = stage.keep(await startServe([exit.url], {}, { openFiles: OPEN_FILES }));
      let mostFiles = 0;
      const watch = setInterval(() => (mostFiles = Math.max(mostFiles, openDescriptors(gateway.pid))), 5);
      const answers: LoadAnswer[] = [];
      let closed = 0;
      const clients = Array.from({ length: 1000 }, () => {
        const client = new LoadClient({ port: gateway.port });
        client.begin(ask, (answer) => {
          if (answer !== null && answer.status !== 200) answers.push(answer);
        });
        client.socket.once('close', () => closed++);
        return client;
      });
      // As many as may stay do; all others are sent away.
      await waitFor('the others to be sent away', () => closed >= 1000 - OPEN_FILES / 2, 20_000);
      const held = 1000 - closed;
      clearInterval(watch);
      for (const client of clients) client[leave]();
      const startMs = performance.now();
      const isServed = async (): Promise<boolean> => {
        const client = new LoadClient({ port: gateway.port });
        const answer = await client.ask(page);
        client.close();
        return answer?.status === 200;
      };
      while (!(await isServed())) expect(performance.now() - startMs).toBeLessThan(5000);
      const backMs = performance.now() - startMs;
      const metrics = await scrape(gateway);
      tell(`ulimit -n 256, 1,000 x ${name}`, {
        ...{ held, 'told 503': answers.length, 'most files': mostFiles, 'back after ms': backMs },
      });
      expect(gateway.child.exitCode).toBe(null);
      expect(held).toBeGreaterThanOrEqual(90);
      expect(answers.length).toBeGreaterThan(0);
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 503, retryAfter: '1', code: 'overloaded' });
      }
      expect(mostFiles).toBeLessThanOrEqual(OPEN_FILES * 0.9);
      expect(sumOf(metrics, 'turnpike_connections_refused_total', 'over_limit')).toBeGreaterThan(500);
      expect(sumOf(metrics, 'turnpike_connections_refused_total', 'own_fault')).toBe(0);
      expect(sumOf(metrics, 'turnpike_errors_total', 'local_resources')).toBe(0);
      expect(sumOf(metrics, 'turnpike_bans_total')).toBe(0);
    },
  );
});

describe('idle connections to many exits', () => {
  it('give way to clients that come', async () => {
    const exits = await Promise.all(
      Array.from({ length: 90 }, async () => stage.keep(await startLoadExit())),
    );
    const gateway = stage.keep(
      await startServe(
        exits.map(({ url }) => url),
        {},
        { openFiles: OPEN_FILES },
      ),
    );
    const first = new LoadClient({ port: gateway.port });
    for (let n = 0; n < 90; n++) expect((await first.ask(page))?.status).toBe(200);
    expect(sumOf(await scrape(gateway), 'turnpike_upstream_connections_idle')).toBe(90);
    const clients = Array.from({ length: 90 }, () => new LoadClient({ port: gateway.port }));
    const tunnels = clients.map((client) => client.ask(head('CONNECT', 'site.example:443')));
    await waitFor('the tunnels', () => clients.every(({ isOpen }) => isOpen));
    const metrics = await scrape(gateway);
    expect(sumOf(metrics, 'turnpike_tunnels_open')).toBe(90);
    expect(sumOf(metrics, 'turnpike_upstream_connections_idle')).toBeLessThanOrEqual(6);
    expect(openDescriptors(gateway.pid)).toBeLessThanOrEqual(OPEN_FILES * 0.97);
    for (const client of [first, ...clients]) client.close();
    await Promise.all(tunnels);
  });
});
