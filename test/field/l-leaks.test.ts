/** L06, L09, L10, X07: many exchanges leave nothing behind, neither sockets nor listeners nor counts. */
import { describe, expect, it, vi } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { Wire } from '../../src/open/wire.js';
import { connect, headFor } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { openSockets, socketsBackTo, watchProcess } from '../support/probes.js';
import { RawClient } from '../support/raw-client.js';
import { refusedPort } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();

/** Opened = closed, and nothing under way. */
async function expectAllOver(gateway: TestGateway, connections: number): Promise<void> {
  const closed = (): number => gateway.events.filter((event) => event.type === 'client_disconnected').length;
  await waitFor(`${connections} connections to be closed`, () => closed() === connections);
  const metrics = await gateway.metrics();
  for (const gauge of ['turnpike_exchanges_open', 'turnpike_tunnels_open']) {
    expect(metrics).toMatch(new RegExp(`^${gauge} 0$`, 'm'));
  }
  expect(metrics).toMatch(/^turnpike_client_connections_open\{[^}]*\} 0$/m);
}

/** Runs them a few at a time. */
async function inGroups(count: number, size: number, one: (n: number) => Promise<void>): Promise<void> {
  for (let start = 0; start < count; start += size) {
    const group = Array.from({ length: Math.min(size, count - start) }, (_, n) => one(start + n));
    await Promise.all(group);
  }
}

describe('L06 clients that leave at any moment of a CONNECT', () => {
  it('500 times: alive, counted, nobody blamed', async () => {
    const watch = watchProcess();
    const chance = seededRandom(6);
    const exit = await stage.scripted(async (peer) => {
      await peer.head();
      await new Promise((resolve) => setTimeout(resolve, chance.below(20)));
      peer.write('HTTP/1.1 200 OK\r\n\r\nhi');
    });
    const gateway = await stage.gateway([exit]);
    await inGroups(500, 25, async () => {
      const client = await RawClient.connect(gateway.port);
      client.write(headFor('site.example:443', { method: 'CONNECT' }));
      await new Promise((resolve) => setTimeout(resolve, chance.below(20)));
      client.reset();
    });
    await expectAllOver(gateway, 500);
    await exit.idle();
    expect(gateway.events.some((event) => event.type === 'exit_banned')).toBe(false);
    watch.stop();
  });
});

describe('L09 the registry of connections', () => {
  it('is empty after tunnels that stood, that were refused, and whose client left', async () => {
    const before = openSockets();
    const exit = await stage.scripted(async (peer) => {
      const head = await peer.head();
      if (head.includes('refused')) peer.answer('no', '403 No');
      else if (head.includes('left')) await peer.gone();
      else {
        peer.write('HTTP/1.1 200 OK\r\n\r\n');
        peer.echo();
      }
    });
    const gateway = await stage.gateway([exit], { retry: { retries: 0 } });
    const targets = ['stands.example:443', 'refused.example:443', 'left.example:443'];
    await inGroups(900, 30, async (n) => {
      const client = await RawClient.connect(gateway.port);
      client.write(headFor(targets[n % 3] ?? '', { method: 'CONNECT' }));
      if (n % 3 < 2) await client.answer();
      if (n % 3 === 0) await client.write('hello').until('hello');
      if (n % 3 < 2) client.destroy();
      else client.reset();
    });
    await expectAllOver(gateway, 900);
    await exit.idle();
    await gateway.close();
    await exit.close();
    await socketsBackTo(before);
  });
});

describe('L10 requests one after the other', () => {
  const url = 'http://site.example/';
  it('60 over one client connection and one upstream connection, without a warning', async () => {
    const watch = watchProcess();
    const exit = await stage.good('page');
    const gateway = await stage.gateway([exit]);
    const made = [vi.spyOn(Wire, 'around'), vi.spyOn(Wire, 'dialling')];
    const client = await RawClient.connect(gateway.port);
    /** On the gateway's own sockets, that to the client and that to the upstream. */
    const listeners = (): number =>
      made
        .flatMap(({ mock }) => mock.results.map(({ value }) => (value as Wire).socket))
        .flatMap((socket) => socket.eventNames().map((name) => socket.listenerCount(name)))
        .reduce((sum, count) => sum + count, 0);
    const counts: number[] = [];
    for (let n = 0; n < 60; n++) {
      client.write(headFor(url));
      expect((await client.answer()).status).toBe(200);
      counts.push(listeners());
    }
    expect(made.map(({ mock }) => mock.results.length)).toEqual([1, 1]);
    expect(new Set(counts.slice(1)).size).toBe(1);
    expect(exit.accepts).toBe(1);
    const connected = gateway.events.filter((event) => event.type === 'client_connected');
    expect(connected.length).toBe(1);
    client.destroy();
    watch.stop();
  });

  it('60 that fail over one client connection, without a warning', async () => {
    const watch = watchProcess();
    const gateway = await stage.gateway([`http://127.0.0.1:${await refusedPort()}`]);
    const client = await RawClient.connect(gateway.port);
    for (let n = 0; n < 60; n++) {
      client.write(headFor(url));
      expect((await client.answer()).status).toBeGreaterThanOrEqual(502);
    }
    client.destroy();
    watch.stop();
  });
});

describe('X07 many tunnels at once', () => {
  it('300 to an upstream by name: all stand before the first is answered', async () => {
    const exit = await stage.scripted(async (peer) => {
      await peer.head();
      await waitFor('all tunnels to be asked for', () => exit.accepts === 300, 20_000);
      peer.write('HTTP/1.1 200 OK\r\n\r\n');
    });
    const gateway = await stage.gateway([`http://localhost:${exit.port}`]);
    const tunnels = await Promise.all(
      Array.from({ length: 300 }, () => connect(gateway, 'site.example:443')),
    );
    expect(new Set(tunnels.map(({ answer }) => answer.status))).toEqual(new Set([200]));
    for (const { client } of tunnels) client.destroy();
    await expectAllOver(gateway, 300);
  });
});
