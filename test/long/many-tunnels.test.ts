/** What takes too long for every run: ten thousand tunnels (L09), and slow heads on the admin port (X04). */
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { headFor } from '../support/ask.js';
import { heapBytes, openSockets, socketsBackTo } from '../support/probes.js';
import { RawClient } from '../support/raw-client.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const MIB = 1024 * 1024;

/** Opens every tunnel to an echo and remembers none of them, unlike the scripted one. */
async function forgetfulExit(): Promise<{ url: string; close(): Promise<void> }> {
  const server = net.createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.on('data', (chunk: Buffer) => void socket.write(chunk));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

describe('L09 ten thousand short tunnels', () => {
  it('leave neither sockets nor heap', async () => {
    const exit = stage.keep(await forgetfulExit());
    const gateway = await stage.gateway([exit.url]);
    const before = openSockets();
    const one = async (): Promise<void> => {
      const client = await RawClient.connect(gateway.port);
      await client.write(headFor('site.example:443', { method: 'CONNECT' })).until('200');
      await client.write('hello').until('hello');
      client.destroy();
    };
    const rounds = async (count: number): Promise<number> => {
      for (let n = 0; n < count; n++) await Promise.all(Array.from({ length: 50 }, one));
      await socketsBackTo(before);
      // What the test keeps is not the gateway's.
      (gateway.events as TurnpikeEvent[]).length = 0;
      return heapBytes();
    };
    const early = await rounds(40);
    expect((await rounds(160)) - early).toBeLessThan(4 * MIB);
    const metrics = await gateway.metrics();
    expect(metrics).toMatch(/^turnpike_tunnels_open 0$/m);
    expect(metrics).toMatch(/^turnpike_client_connections_opened_total\{[^}]*\} 10000$/m);
    expect(metrics).toMatch(/^turnpike_client_connections_closed_total\{[^}]*\} 10000$/m);
  });
});

describe('X04 heads that come by the byte on the admin port', () => {
  it('are cut, and others are served meanwhile', async () => {
    const gateway = await stage.gateway([]);
    const slow = await Promise.all(Array.from({ length: 200 }, () => RawClient.connect(gateway.adminPort)));
    for (const client of slow) client.write('GET /metrics HTTP/1.1\r\nX: ');
    const drip = setInterval(() => {
      for (const client of slow) if (client.ending === 'open') client.write('x');
    }, 500);
    expect(await gateway.metrics()).toContain('turnpike_build_info');
    for (const client of slow) await client.ended(20_000);
    clearInterval(drip);
    for (const client of slow) client.destroy();
  });
});
