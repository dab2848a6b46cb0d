/** X04, X01 and SECURITY 3 to 5 at their full size: slow clients by the thousand, slow readers, many large heads. */
import { describe, expect, it } from 'vitest';
import { hashOfBytes, startLoadExit } from '../support/load-exit.js';
import { LoadClient, type LoadAnswer } from '../support/load-client.js';
import { residentMib, scrape, sumOf, tell } from '../support/process-figures.js';
import { openDescriptors } from '../support/probes.js';
import { startServe, type ServeProcess } from '../support/serve-process.js';
import { startSlowCrowd } from '../support/slow-connections.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const MIB = 1024 * 1024;
const get = (path: string): string =>
  `GET http://site.example/${path} HTTP/1.1\r\nHost: site.example\r\n\r\n`;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function startGateway(config: Record<string, unknown> = {}): Promise<ServeProcess> {
  const exit = stage.keep(await startLoadExit());
  return stage.keep(await startServe([exit.url], config));
}

/** One request on a connection of its own. */
async function probe(port: number): Promise<{ status: number; ms: number }> {
  const startMs = performance.now();
  const client = new LoadClient({ port });
  const answer = await client.ask(get('100'));
  client.close();
  return { status: answer?.status ?? 0, ms: performance.now() - startMs };
}

/** Lets the gateway compile its code and grow its first heap, which is nobody's doing. */
async function warmUp(port: number): Promise<void> {
  const one = async (): Promise<void> => {
    const client = new LoadClient({ port });
    for (let n = 0; n < 400; n++) await client.ask(get('100'));
    client.close();
  };
  await Promise.all(Array.from({ length: 50 }, one));
}

describe('3,000 slow connections for 60 s', () => {
  it('a normal request each second is served, and the slow ones are cut in time', async () => {
    const gateway = await startGateway();
    await warmUp(gateway.port);
    const before = residentMib(gateway.pid);
    const crowd = await startSlowCrowd(gateway.port, 1000);
    const probes: { status: number; ms: number }[] = [];
    let mostMib = 0;
    for (let second = 0; second < 60; second++) {
      const startMs = performance.now();
      probes.push(await probe(gateway.port));
      mostMib = Math.max(mostMib, residentMib(gateway.pid));
      await wait(1000 - (performance.now() - startMs));
    }
    expect(crowd.standing()).toBeGreaterThan(2500);
    const endsOf = (how: string) => crowd.ends.filter((end) => end.how === how);
    const [heads, bodies] = [endsOf('head'), endsOf('body')];
    const metrics = await scrape(gateway);
    crowd.close();
    expect(probes.map(({ status }) => status)).toEqual(Array.from({ length: 60 }, () => 200));
    // Each is replaced when it is cut: five generations of heads by the byte, one of bodies at the least.
    expect(heads.length).toBeGreaterThanOrEqual(4000);
    expect(bodies.length).toBeGreaterThanOrEqual(1000);
    expect(new Set([...heads, ...bodies].map(({ status }) => status))).toEqual(new Set([408]));
    const late = sumOf(metrics, 'turnpike_errors_total', 'code="request_timeout"');
    expect(late).toBeGreaterThanOrEqual(heads.length + bodies.length);
    const sorted = probes.map(({ ms }) => ms).sort((a, b) => a - b);
    const longest = (ends: readonly { ms: number }[]): number => Math.max(...ends.map(({ ms }) => ms)) / 1000;
    tell('3,000 slow connections', {
      'probes ok': `${probes.filter(({ status }) => status === 200).length} of 60`,
      'p50 ms': sorted[30] ?? 0,
      'slowest ms': sorted.at(-1) ?? 0,
      'heads cut after s': longest(heads),
      'bodies cut after s': longest(bodies),
      'RSS growth MiB': mostMib - before,
    });
  }, 150_000);
});

describe('200 readers at 1 KiB/s of 8 MiB', () => {
  it.each([
    ['plain', get(String(8 * MIB))],
    ['CONNECT', `CONNECT bytes-${8 * MIB}.example:443 HTTP/1.1\r\nHost: site.example\r\n\r\n`],
  ])(
    '%s: memory stays, and every byte comes in the end',
    async (name, head) => {
      const gateway = await startGateway();
      await warmUp(gateway.port);
      const before = residentMib(gateway.pid);
      const clients = Array.from({ length: 200 }, () => new LoadClient({ port: gateway.port }));
      const answers = clients.map(async (client): Promise<LoadAnswer | null> => {
        await client.connected();
        client.readSlowly(1024);
        return client.ask(head, true);
      });
      let mostMib = 0;
      for (let second = 0; second < 30; second++) {
        for (const client of clients) client.take();
        mostMib = Math.max(mostMib, residentMib(gateway.pid));
        await wait(1000);
      }
      for (const client of clients) client.readFast();
      const whole = await Promise.all(answers);
      mostMib = Math.max(mostMib, residentMib(gateway.pid));
      expect(new Set(whole.map((answer) => answer?.hash))).toEqual(new Set([hashOfBytes(8 * MIB)]));
      tell(`200 slow readers, ${name}`, { 'RSS growth MiB': mostMib - before });
      expect(mostMib - before).toBeLessThanOrEqual(100);
    },
    120_000,
  );
});

describe('2,000 connections with 16 KiB of head each', () => {
  it('memory is bounded, and comes back', async () => {
    const gateway = await startGateway();
    await warmUp(gateway.port);
    const large = `${get('100').slice(0, -2)}${Array.from({ length: 16 }, (_, n) => `X-F${n}: ${'v'.repeat(1000)}\r\n`).join('')}`;
    /** A whole head, answered, and most of another; all held at once. */
    const round = async (): Promise<number> => {
      const clients = Array.from({ length: 2000 }, () => new LoadClient({ port: gateway.port }));
      for (const client of clients) {
        const answer = await client.ask(`${large}\r\n`);
        expect(answer?.status).toBe(200);
      }
      for (const client of clients) client.socket.write(large);
      await wait(1000);
      const heldMib = residentMib(gateway.pid);
      const isOpen = openDescriptors(gateway.pid);
      expect(isOpen).toBeGreaterThan(2000);
      for (const client of clients) client.close();
      await waitFor('the connections to go', () => openDescriptors(gateway.pid) < isOpen - 1990);
      return heldMib;
    };
    const before = residentMib(gateway.pid);
    const most = await round();
    const after = await waitFor(
      'the memory to come back',
      () => {
        const now = residentMib(gateway.pid);
        return now <= before * 1.15 ? now : null;
      },
      30_000,
    ).catch(() => residentMib(gateway.pid));
    tell('2,000 heads of 16 KiB', { 'RSS before MiB': before, 'most MiB': most, 'after MiB': after });
    expect(most - before).toBeLessThanOrEqual(200);
    expect(after).toBeLessThanOrEqual(before * 1.15);
  }, 120_000);
});
