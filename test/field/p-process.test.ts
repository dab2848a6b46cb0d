/** Field cases of kind P: the process lives, and its books balance. */
import { describe, expect, it, vi } from 'vitest';
import { MemoryPins } from '../../src/state/memory/pins.js';
import type { Pins } from '../../src/state/ports.js';
import { openSockets, socketsBackTo } from '../support/probes.js';
import { RawClient } from '../support/raw-client.js';
import { connectHead, getHead, login, requestHead, startRig, type Rig } from '../support/rig.js';
import { modes, moments, plans, resettingUpstream, runOnce, type Plan } from '../support/rst-fuzz.js';
import { echoTunnel, serveEach } from '../support/scripted-upstream.js';
import { waitFor } from '../support/wait.js';

/** Many exits that are never set aside, so that every run reaches the upstream. */
const manyExits = {
  upstreams: ({ loginUrl }: Rig['upstream']) => Array.from({ length: 40 }, (_, i) => loginUrl(`u${i}`, 'x')),
  config: { bans: { max_ejected: 0 }, retry: { retries: 1 } },
};

/** Waits until nothing is under way and every connection that was opened is closed. */
async function booksBalance({ gateway }: Rig): Promise<void> {
  const count = (type: string): number => gateway.events.filter((event) => event.type === type).length;
  await waitFor('all connections closed', () => count('client_connected') === count('client_disconnected'));
  const metrics = await gateway.metrics();
  expect(metrics).toMatch(/^turnpike_client_connections_open\{[^}]*\} 0$/m);
  for (const gauge of ['turnpike_exchanges_open', 'turnpike_tunnels_open']) {
    expect(metrics).toMatch(new RegExp(`^${gauge}(\\{[^}]*\\})? 0$`, 'm'));
  }
  expect(metrics).not.toMatch(/_open(\{[^}]*\})? -/);
}

describe('P01 a reset at any moment', () => {
  const everyPlan = modes.flatMap((mode) =>
    moments.flatMap((moment) =>
      (['client', 'upstream'] as const).map((side): Plan => ({ mode, moment, side })),
    ),
  );

  it('by either side in every mode is survived, and nothing is left behind', async () => {
    let plan = everyPlan[0] as Plan;
    const rig = await startRig(
      resettingUpstream(() => plan),
      manyExits,
    );
    const before = openSockets();
    for (plan of everyPlan) await runOnce(rig.gateway.port, plan);
    // Kept connections to the upstream are open on both ends.
    await waitFor('few sockets', () => openSockets() <= before + 2 * rig.upstream.open);
    await booksBalance(rig);
    expect(await lastWord(rig)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('at random, 300 times', async () => {
    let plan = everyPlan[0] as Plan;
    const rig = await startRig(
      resettingUpstream(() => plan),
      manyExits,
    );
    for (plan of plans(7, 300)) await runOnce(rig.gateway.port, plan);
    await booksBalance(rig);
  });

  it('of 200 tunnels at once, both sides at once', async () => {
    const rig = await startRig(echoTunnel, manyExits);
    const before = openSockets();
    const clients = await Promise.all(Array.from({ length: 200 }, () => rig.client()));
    await Promise.all(clients.map((c) => c.write(`${connectHead()}ping`).until('ping')));
    for (const [nth, c] of clients.entries()) {
      if (nth % 3 !== 0) c.reset();
      if (nth % 3 !== 1) (rig.upstream.peers[nth] as (typeof rig.upstream.peers)[0]).reset();
    }
    for (const c of clients) {
      await c.ended();
      c.destroy();
    }
    await rig.upstream.idle();
    await socketsBackTo(before);
    await booksBalance(rig);
  });

  /** Whether the gateway still answers. */
  async function lastWord({ gateway }: Rig): Promise<string> {
    const c = await RawClient.connect(gateway.port);
    const head = await c.write(requestHead('GET /', 'Host: a.test')).head();
    c.destroy();
    return head;
  }
});

describe('P03 connections that never become a request', () => {
  it.each([
    ['0 bytes, FIN', ''],
    ['a part of a head, FIN', 'GET http://a.te'],
    ['a bad head', 'NONSENSE\r\n\r\n'],
    ['a refused login', getHead('http://a.test/', login('x', 'y'))],
    ['a refused target', requestHead('GET http://a..b/', 'Host: a')],
    ['TLS', '\x16\x03\x01\x02\x00'],
  ])('opened = closed + open holds: %s', async (_, bytes) => {
    const rig = await startRig(echoTunnel, {
      config: { clients: [{ name: 'u', password: 'p' }], timeouts: { client_header: '200ms' } },
    });
    for (let nth = 0; nth < 10; nth++) {
      const c = await rig.client();
      if (bytes !== '') c.write(bytes);
      if (nth % 2 === 0) c.end();
      else if (bytes !== '') await c.untilSome();
      c.destroy();
    }
    await booksBalance(rig);
  });

  it('also while some are open, and for tunnels', async () => {
    const rig = await startRig(echoTunnel);
    const clients = await Promise.all(Array.from({ length: 5 }, () => rig.client()));
    for (const c of clients.slice(0, 3)) await c.write(connectHead()).head();
    await waitFor('five', () => rig.gateway.events.filter((e) => e.type === 'client_connected').length === 5);
    expect(await rig.gateway.metrics()).toMatch(/^turnpike_client_connections_open\{[^}]*\} 5$/m);
    expect(await rig.gateway.metrics()).toMatch(/^turnpike_tunnels_open(\{[^}]*\})? 3$/m);
    for (const c of clients) c.destroy();
    await booksBalance(rig);
  });

  it('L09 300 tunnels leave no entry: the limit per address is not used up', async () => {
    const rig = await startRig(echoTunnel, {
      config: { limits: { connections_per_address: 4, connections: 4 } },
    });
    for (let nth = 0; nth < 300; nth++) {
      const c = await RawClient.connect(rig.gateway.port);
      expect(await c.write(connectHead()).head()).toMatch(/^HTTP\/1\.1 200 /);
      c.end();
      await c.closed();
    }
    await booksBalance(rig);
  });
});

describe('P04 errors from within', () => {
  const away = (): never => {
    throw new Error('store is away');
  };
  it.each([
    ['that throws', () => vi.spyOn(MemoryPins.prototype, 'find').mockImplementation(away)],
    [
      'that rejects a search',
      () => {
        const find: Pins['find'] = () => Promise.reject(new Error('store is away'));
        vi.spyOn(MemoryPins.prototype as Pins, 'find').mockImplementation(find);
      },
    ],
    [
      'that rejects a first pin',
      () => vi.spyOn(MemoryPins.prototype, 'bind').mockRejectedValue(new Error('store is away')),
    ],
  ])('a session store %s costs that client a 500 and nobody else anything', async (_, breakStore) => {
    const rig = await startRig(serveEach((peer) => void peer.answer('page')));
    breakStore();
    for (const head of [
      connectHead('a.test:443', 'X-Session-Id: s'),
      getHead('http://a.test/', 'X-Session-Id: s'),
    ]) {
      const answer = await (await rig.client()).write(head).answer();
      expect(answer.status).toBe(500);
      expect(answer.body.toString()).toContain('internal_error');
      expect(answer.body.toString()).not.toContain('store is away');
    }
    expect((await (await rig.client()).write(getHead()).answer()).status).toBe(200);
    await rig.gateway.event('note', (event) => event.what === 'internal_error');
  });

  it('writing to a client that has just reset harms nobody', async () => {
    const rig = await startRig(async (peer) => {
      await peer.head();
      await peer.gone();
    });
    for (let nth = 0; nth < 50; nth++) {
      const c = await rig.client();
      c.write(nth % 2 === 0 ? connectHead() : getHead());
      const peer = await rig.upstream.peer(nth);
      await peer.until('\r\n\r\n');
      // In the same turn: the answer and the reset race.
      peer.answer('hello', '200 OK', ['Connection: close']);
      c.reset();
      await peer.gone();
    }
    await booksBalance(rig);
  });

  it('a segment full of requests is answered in order, and uses up no stack', async () => {
    const rig = await startRig(serveEach((peer) => void peer.answer('page')));
    const count = 5000;
    const c = await rig.client();
    c.write(
      'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count) + getHead('http://a.test/', 'Connection: close'),
    );
    await c.ended();
    const statuses = c.text.match(/^HTTP\/1\.1 \d+/gm) ?? [];
    expect(statuses).toHaveLength(count + 1);
    expect(statuses.at(-1)).toBe('HTTP/1.1 200');
  });
});
