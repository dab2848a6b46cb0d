/**
 * A gateway as people run it, told to stop while downloads are half done and tunnels stand: for some of them in the
 * integration tests, for hundreds in the long ones.
 */
import { headFor } from './ask.js';
import { RawClient } from './raw-client.js';
import type { Peer, ScriptedUpstream } from './scripted-upstream.js';
import { startServe, type ServeProcess } from './serve-process.js';
import type { Stage } from './stage.js';
import { waitFor } from './wait.js';

/** Length of each page. */
export const DOWNLOAD_BYTES = 300_000;
const half = 'x'.repeat(DOWNLOAD_BYTES / 2);
const connectHead = headFor('site.example:443', { method: 'CONNECT' });

/** Sends half of each page and waits for the word; tunnels echo. */
export async function halfwayExit(stage: Stage): Promise<{ exit: ScriptedUpstream; release(): void }> {
  const waiting: Peer[] = [];
  const exit = await stage.scripted(async (peer) => {
    const head = await peer.head();
    if (head.startsWith('CONNECT')) {
      peer.write('HTTP/1.1 200 OK\r\n\r\n').echo();
      return;
    }
    peer.write(`HTTP/1.1 200 OK\r\nContent-Length: ${DOWNLOAD_BYTES}\r\n\r\n${half}`);
    waiting.push(peer);
  });
  return { exit, release: () => waiting.forEach((peer) => peer.write(half)) };
}

/** What is under way. */
export interface Load {
  readonly downloads: RawClient[];
  readonly tunnels: RawClient[];
}

/** Downloads that have their first half, and tunnels that stand. */
export async function startLoad(
  gateway: ServeProcess,
  counts: { downloads: number; tunnels: number },
): Promise<Load> {
  const start = async (head: string, wanted: (client: RawClient) => Promise<unknown>): Promise<RawClient> => {
    const client = await RawClient.connect(gateway.port);
    await wanted(client.write(head));
    return client;
  };
  const many = async (count: number, one: () => Promise<RawClient>): Promise<RawClient[]> => {
    const clients: RawClient[] = [];
    for (let left = count; left > 0; left -= 50) {
      clients.push(...(await Promise.all(Array.from({ length: Math.min(50, left) }, one))));
    }
    return clients;
  };
  return {
    downloads: await many(counts.downloads, () =>
      start(headFor('http://site.example/'), (client) => client.untilBytes(DOWNLOAD_BYTES / 2)),
    ),
    tunnels: await many(counts.tunnels, () => start(connectHead, (client) => client.until('200'))),
  };
}

/** What /readyz says. */
export const readiness = async (gateway: ServeProcess): Promise<number> =>
  (await fetch(`${gateway.admin}/readyz`)).status;

/** Waits until nobody listens on this port. */
export async function untilRefused(port: number): Promise<void> {
  let isRefused = false;
  await waitFor('the port to be closed', () => {
    RawClient.connect(port).then(
      (client) => client.destroy(),
      () => (isRefused = true),
    );
    return isRefused;
  });
}

/** What came of a drain. */
export interface Drained {
  /** What was truncated, or not told as it should be; empty when all went well. */
  readonly cut: readonly string[];
  readonly exitCode: number | null;
  readonly log: string;
}

/** Stops a gateway with so much under way, and lets all of it end inside the window. */
export async function drainUnderLoad(
  stage: Stage,
  counts: { downloads: number; tunnels: number },
): Promise<Drained> {
  const { exit, release } = await halfwayExit(stage);
  const gateway = stage.keep(await startServe([exit.url], { timeouts: { drain: '60s' } }));
  const cut: string[] = [];
  const check = (isRight: boolean, what: string): void => void (isRight || cut.push(what));
  const idle = await RawClient.connect(gateway.port);
  const { downloads, tunnels } = await startLoad(gateway, counts);
  check((await readiness(gateway)) === 200, 'not ready before');
  gateway.child.kill('SIGTERM');
  await waitFor('the signal to be heard', () => gateway.stderr().includes('draining'));
  check((await readiness(gateway)) === 503, 'ready while draining');
  check((await idle.ended()) === 'fin', 'an idle connection');
  idle.destroy();
  await untilRefused(gateway.port);
  release();
  for (const [nth, client] of downloads.entries()) {
    await client.ended(60_000);
    const length = client.received.length - client.text.indexOf('\r\n\r\n') - 4;
    check(
      client.ending === 'fin' && length === DOWNLOAD_BYTES,
      `download ${nth}: ${client.ending} at ${length}`,
    );
    client.destroy();
  }
  for (const [nth, client] of tunnels.entries()) {
    await client.write('still here').until('still here');
    client.end();
    const ending = await client.closed();
    check(ending === 'fin', `tunnel ${nth}: ${ending}`);
  }
  return { cut, exitCode: await gateway.ended, log: gateway.log() };
}
