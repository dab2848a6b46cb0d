/** X01–X06: slow readers cost no memory, bodies flow as they come, slow heads are cut, our own faults blame nobody. */
import net from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { ask, connect, headFor } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { RawClient } from '../support/raw-client.js';
import type { Peer } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const page = 'http://site.example/';
const MIB = 1024 * 1024;
const total = 200 * MIB;
const piece = Buffer.alloc(64 * 1024, 'x');

/** Writes up to 200 MiB, no faster than the socket takes them; a polite sender, so its own memory stays flat. */
function pump(socket: net.Socket): void {
  const more = (): void => {
    while (socket.bytesWritten < total && !socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

async function settled(what: string, value: () => number): Promise<number> {
  let [last, same] = [-1, 0];
  await waitFor(what, () => {
    same = value() === last ? same + 1 : 0;
    last = value();
    return same > 40;
  });
  return last;
}

type Way = readonly [name: string, script: (peer: Peer) => Promise<void>, head: string];

const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];
const silentUpgrade = async (peer: Peer): Promise<void> => {
  await peer.head();
  peer.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
};
const connectHead = headFor('site.example:443', { method: 'CONNECT' });

const downloads: readonly Way[] = [
  [
    'plain',
    async (peer) => {
      await peer.request();
      peer.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`);
      pump(peer.socket);
    },
    headFor(page),
  ],
  [
    'tunnel',
    async (peer) => {
      await peer.openTunnel();
      pump(peer.socket);
    },
    connectHead,
  ],
  [
    'upgrade',
    async (peer) => {
      await silentUpgrade(peer);
      pump(peer.socket);
    },
    headFor(page, { fields: upgrade }),
  ],
];

const uploads: readonly Way[] = [
  [
    'plain',
    async (peer) => {
      await peer.head();
      peer.socket.pause();
    },
    headFor(page, { method: 'PUT', fields: [`Content-Length: ${total}`] }),
  ],
  [
    'tunnel',
    async (peer) => {
      await peer.openTunnel();
      peer.socket.pause();
    },
    connectHead,
  ],
  [
    'upgrade',
    async (peer) => {
      await silentUpgrade(peer);
      peer.socket.pause();
    },
    headFor(page, { fields: upgrade }),
  ],
];

const streams = 20;
/** What the kernel may hold of one stream on two sockets, with room to spare; far from 200 MiB. */
const inKernel = 24 * MIB;

async function openStreams(gateway: TestGateway, head: string): Promise<RawClient[]> {
  const clients = Array.from({ length: streams }, () => RawClient.connect(gateway.port));
  return Promise.all(clients.map(async (client) => (await client).write(head)));
}

describe('X01 20 slow readers of 200 MiB each', () => {
  it.each(downloads)('%s download: the sender is stopped, memory stays', async (_name, script, head) => {
    const exit = await stage.scripted(script);
    const gateway = await stage.gateway([exit]);
    const before = process.memoryUsage().rss;
    const clients = await openStreams(gateway, head);
    await Promise.all(
      clients.map(async (client) => {
        await client.untilBytes(64 * 1024);
        client.pause();
      }),
    );
    const sent = (): number => exit.peers.reduce((sum, peer) => sum + peer.socket.bytesWritten, 0);
    expect(await settled('the senders to be stopped', sent)).toBeLessThan(streams * inKernel);
    expect(process.memoryUsage().rss - before).toBeLessThan(streams * 6 * MIB);
    for (const client of clients) client.reset();
    await exit.idle();
  });

  it.each(uploads)('%s upload: the client is stopped, memory stays', async (_name, script, head) => {
    const exit = await stage.scripted(script);
    const gateway = await stage.gateway([exit]);
    const before = process.memoryUsage().rss;
    const clients = await openStreams(gateway, head);
    for (const client of clients) pump(client.socket);
    const sent = (): number => clients.reduce((sum, client) => sum + client.socket.bytesWritten, 0);
    expect(await settled('the clients to be stopped', sent)).toBeLessThan(streams * inKernel);
    expect(process.memoryUsage().rss - before).toBeLessThan(streams * 6 * MIB);
    for (const client of clients) client.reset();
  });
});

describe('X02 nothing is collected', () => {
  it.each(['Transfer-Encoding: chunked', 'Content-Length: 10', 'Connection: close'])(
    'each piece of an answer arrives before the next is sent (%s)',
    async (framing) => {
      let peer: Peer | null = null;
      const exit = await stage.scripted(async (accepted) => {
        await accepted.request();
        accepted.write(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${framing}\r\n\r\n`);
        peer = accepted;
      });
      const gateway = await stage.gateway([exit]);
      const client = await RawClient.connect(gateway.port);
      client.write(headFor(page));
      await client.until('\r\n\r\n');
      const sender: Peer = await waitFor('the request', () => peer);
      for (let n = 0; n < 10; n++) {
        sender.write(framing.startsWith('Transfer') ? `1\r\n${n}\r\n` : String(n));
        await client.until(String(n));
        client.take();
      }
      client.reset();
    },
  );

  it('each piece of an upload arrives before the next is sent', async () => {
    const exit = await stage.scripted(() => undefined);
    const gateway = await stage.gateway([exit]);
    const client = await RawClient.connect(gateway.port);
    client.write(headFor(page, { method: 'PUT', fields: ['Transfer-Encoding: chunked'] }));
    const peer = await exit.peer(0);
    await peer.until('\r\n\r\n');
    for (let n = 0; n < 10; n++) {
      client.write(`7\r\npiece ${n}\r\n`);
      await peer.until(`piece ${n}`);
    }
    client.reset();
  });
});

describe('X04 heads that come by the byte', () => {
  it.each(['GET http://site.example/', 'CONNECT site.example:443'])(
    '%s: 500 are cut with 408, others are served meanwhile',
    async (line) => {
      const gateway = await stage.gateway([await stage.good('ok')], { timeouts: { client_header: '400ms' } });
      const slow = await Promise.all(Array.from({ length: 500 }, () => RawClient.connect(gateway.port)));
      const drip = setInterval(() => {
        for (const client of slow) if (client.ending === 'open') client.write('x');
      }, 50);
      for (const client of slow) client.write(`${line} HTTP/1.1\r\nX: `);
      expect((await ask(gateway, page)).status).toBe(200);
      const answers = await Promise.all(slow.map((client) => client.answer()));
      clearInterval(drip);
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([408]));
      for (const client of slow) client.destroy();
    },
  );

  it('connections that say nothing are closed, without an answer', async () => {
    const gateway = await stage.gateway([await stage.good('ok')], { timeouts: { client_header: '100ms' } });
    const client = await RawClient.connect(gateway.port);
    expect(await client.ended()).toBe('fin');
    expect(client.text).toBe('');
    client.destroy();
  });
});

describe('X04 bodies that come by the byte', () => {
  const head = headFor(page, { method: 'PUT', fields: ['Content-Length: 100000'] });
  /** Sends so many bytes of the body every 20 ms until an answer came, or all of it was sent. */
  async function upload(bytesEach: number): Promise<number> {
    const exit = await stage.exit((peer) => void peer.answer('whole'));
    const config = { timeouts: { body_idle: '400ms' }, limits: { body_rate: 1000 } };
    const gateway = await stage.gateway([exit], config);
    const client = await RawClient.connect(gateway.port);
    client.write(head);
    let left = 100_000;
    const drip = setInterval(() => {
      const bytes = Math.min(left, bytesEach);
      left -= bytes;
      if (bytes > 0 && client.ending === 'open') client.write('x'.repeat(bytes));
    }, 20);
    const { status } = await client.answer();
    clearInterval(drip);
    client.destroy();
    return status;
  }

  it('are cut with 408 though they never fall silent', async () => {
    expect(await upload(1)).toBe(408);
  });

  it('are not while they keep up the least rate', async () => {
    expect(await upload(1000)).toBe(200);
  });
});

describe('X06 out of ports, descriptors or buffers', () => {
  it.each(['EADDRNOTAVAIL', 'EMFILE', 'ENOBUFS'])(
    '%s: 503, one dial each, nobody set aside',
    async (code) => {
      const exits = [await stage.good('a'), await stage.good('b')];
      const gateway = await stage.gateway(exits);
      const ports = new Set(exits.map((exit) => exit.port));
      const real = net.connect;
      let dials = 0;
      const failing = ((...args: Parameters<typeof real>) => {
        const { port } = args[0] as unknown as net.TcpNetConnectOpts;
        if (!ports.has(port)) return real(...args);
        dials++;
        const socket = new net.Socket();
        setImmediate(() => socket.destroy(Object.assign(new Error(code), { code })));
        return socket;
      }) as typeof net.connect;
      const spy = vi.spyOn(net, 'connect').mockImplementation(failing);
      for (let n = 0; n < 10; n++) {
        const answer = await ask(gateway, page);
        expect(answer.problem()).toMatchObject({ code: 'local_resources', blame: 'gateway' });
        expect(answer.field('retry-after')).toBe('1');
      }
      const { client } = await connect(gateway, 'site.example:443');
      client.destroy();
      expect(dials).toBe(11);
      spy.mockRestore();
      expect(gateway.events.some((event) => event.type === 'exit_banned')).toBe(false);
      const names = [(await ask(gateway, page)).body.toString(), (await ask(gateway, page)).body.toString()];
      expect(names.sort()).toEqual(['a', 'b']);
    },
  );

  it('uses one connection again and again', async () => {
    const exit = await stage.good('ok');
    const gateway = await stage.gateway([exit]);
    for (let n = 0; n < 50; n++) expect((await ask(gateway, page)).status).toBe(200);
    expect(exit.accepts).toBe(1);
  });
});
