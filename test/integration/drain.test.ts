/** SIGTERM under load: what is under way may end, what is cut is counted, and the exit code says which it was. */
import { describe, expect, it } from 'vitest';
import { headFor } from '../support/ask.js';
import { openDescriptors } from '../support/probes.js';
import { RawClient } from '../support/raw-client.js';
import type { Peer, ScriptedUpstream } from '../support/scripted-upstream.js';
import { startServe, type ServeProcess } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const size = 300_000;
const half = 'x'.repeat(size / 2);
const connectHead = headFor('site.example:443', { method: 'CONNECT' });

/** Sends half of each page and waits for the word; tunnels echo. */
async function halfwayExit(): Promise<{ exit: ScriptedUpstream; release(): void }> {
  const waiting: Peer[] = [];
  const exit = await stage.scripted(async (peer) => {
    const head = await peer.head();
    if (head.startsWith('CONNECT')) {
      peer.write('HTTP/1.1 200 OK\r\n\r\n').echo();
      return;
    }
    peer.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n${half}`);
    waiting.push(peer);
  });
  return { exit, release: () => waiting.forEach((peer) => peer.write(half)) };
}

interface Load {
  readonly downloads: RawClient[];
  readonly tunnels: RawClient[];
}

/** Downloads that have their first half, and tunnels that stand. */
async function startLoad(
  gateway: ServeProcess,
  counts: { downloads: number; tunnels: number },
): Promise<Load> {
  const start = async (head: string, wanted: (client: RawClient) => Promise<unknown>): Promise<RawClient> => {
    const client = await RawClient.connect(gateway.port);
    await wanted(client.write(head));
    return client;
  };
  const many = (count: number, one: () => Promise<RawClient>) =>
    Promise.all(Array.from({ length: count }, one));
  return {
    downloads: await many(counts.downloads, () =>
      start(headFor('http://site.example/'), (client) => client.untilBytes(size / 2)),
    ),
    tunnels: await many(counts.tunnels, () => start(connectHead, (client) => client.until('200'))),
  };
}

const readiness = async (gateway: ServeProcess): Promise<number> =>
  (await fetch(`${gateway.admin}/readyz`)).status;

async function untilRefused(port: number): Promise<void> {
  let isRefused = false;
  await waitFor('the port to be closed', () => {
    RawClient.connect(port).then(
      (client) => client.destroy(),
      () => (isRefused = true),
    );
    return isRefused;
  });
}

describe('SIGTERM with 200 downloads and 100 tunnels', () => {
  it('cuts none of them inside the window, and ends with 0', async () => {
    const { exit, release } = await halfwayExit();
    const gateway = stage.keep(await startServe([exit.url], { timeouts: { drain: '60s' } }));
    const idle = await RawClient.connect(gateway.port);
    const { downloads, tunnels } = await startLoad(gateway, { downloads: 200, tunnels: 100 });
    expect(await readiness(gateway)).toBe(200);
    gateway.child.kill('SIGTERM');
    await waitFor('the signal to be heard', () => gateway.stderr().includes('draining'));
    expect(await readiness(gateway)).toBe(503);
    expect(await idle.ended()).toBe('fin');
    idle.destroy();
    await untilRefused(gateway.port);
    release();
    for (const client of downloads) {
      await client.ended();
      expect(client.ending).toBe('fin');
      expect(client.received.length - client.text.indexOf('\r\n\r\n') - 4).toBe(size);
      client.destroy();
    }
    for (const client of tunnels) {
      await client.write('still here').until('still here');
      client.end();
      expect(await client.closed()).toBe('fin');
    }
    expect(await gateway.ended).toBe(0);
    expect(gateway.log()).toMatch(/"event":"stopped".*"cut":0/);
  });
});

describe('a window that is too short', () => {
  it('cuts, counts and ends with 1', async () => {
    const { exit } = await halfwayExit();
    const gateway = stage.keep(await startServe([exit.url], { timeouts: { drain: '200ms' } }));
    const { downloads, tunnels } = await startLoad(gateway, { downloads: 3, tunnels: 2 });
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toBe(1);
    expect(gateway.stderr()).toContain('5 exchanges were cut');
    expect(gateway.log()).toMatch(/"event":"stopped".*"cut":5/);
    for (const client of [...downloads, ...tunnels]) {
      await client.ended();
      client.destroy();
    }
    const ends = gateway.log().match(/"end":"[a-z_]+"/g) ?? [];
    expect(ends.length).toBe(5);
    expect(ends).not.toContain('"end":"complete"');
  });
});

describe('while it drains', () => {
  it('takes requests for timeouts.pre_stop, though it is not ready any more', async () => {
    const { exit } = await halfwayExit();
    const gateway = stage.keep(await startServe([exit.url], { timeouts: { pre_stop: '60s' } }));
    gateway.child.kill('SIGTERM');
    await waitFor('the signal to be heard', () => gateway.stderr().includes('draining'));
    expect(await readiness(gateway)).toBe(503);
    const { tunnels } = await startLoad(gateway, { downloads: 0, tunnels: 1 });
    tunnels[0]?.destroy();
  });

  it('a second SIGTERM ends it at once', async () => {
    const { exit } = await halfwayExit();
    const gateway = stage.keep(await startServe([exit.url], { timeouts: { drain: '10m' } }));
    const { tunnels } = await startLoad(gateway, { downloads: 0, tunnels: 1 });
    gateway.child.kill('SIGTERM');
    await waitFor('the signal to be heard', () => gateway.stderr().includes('draining'));
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toBe(1);
    tunnels[0]?.destroy();
  });

  it('B02 ends though every exit is set aside', async () => {
    const gateway = stage.keep(await startServe(['http://127.0.0.1:1'], { timeouts: { acquire: '10m' } }));
    const client = await RawClient.connect(gateway.port);
    client.write(headFor('http://site.example/')).write(headFor('http://site.example/'));
    await client.until('no_upstream');
    client.destroy();
    gateway.child.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
  });
});

describe('L09 descriptors', () => {
  it('are back where they were after 300 exchanges and tunnels', async () => {
    const { exit, release } = await halfwayExit();
    const gateway = stage.keep(await startServe([exit.url], { timeouts: { upstream_idle: '100ms' } }));
    const before = openDescriptors(gateway.pid);
    const { downloads, tunnels } = await startLoad(gateway, { downloads: 200, tunnels: 100 });
    expect(openDescriptors(gateway.pid)).toBeGreaterThanOrEqual(before + 600);
    release();
    for (const client of downloads) await client.untilBytes(size);
    for (const client of [...downloads, ...tunnels]) client.destroy();
    await waitFor('the descriptors to be back', () => openDescriptors(gateway.pid) <= before);
  });
});
