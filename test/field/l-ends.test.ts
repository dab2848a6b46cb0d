/** L01–L07: half-closed, slow and vanishing peers. What one side sent whole arrives whole; what nobody wants stops. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ask, connect, headFor } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { jumpingClock } from '../support/jumping-clock.js';
import { RawClient } from '../support/raw-client.js';
import type { Peer, ScriptedUpstream } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const page = 'http://site.example/';
const settled = async (what: string, value: () => number): Promise<void> => {
  let [last, same] = [-1, 0];
  await waitFor(what, () => {
    same = value() === last ? same + 1 : 0;
    last = value();
    return same > 30;
  });
};

async function startTunnel(exit: ScriptedUpstream, config = {}): Promise<RawClient> {
  const { client, answer } = await connect(await stage.gateway([exit], config), 'site.example:443');
  expect(answer.status).toBe(200);
  return client;
}

describe('L01 a half-closed tunnel', () => {
  it('still brings the reply that comes after the end of the request', async () => {
    const exit = await stage.scripted(async (peer) => {
      peer.keepsHalfOpen = true;
      await peer.openTunnel();
      await peer.until('ping');
      await peer.gone();
      peer.write('pong');
      peer.end();
    });
    const client = await startTunnel(exit);
    client.write('ping').end();
    await client.until('pong');
    expect(await client.ended()).toBe('fin');
    expect(await client.closed()).toBe('fin');
    await exit.idle();
  });

  it('still takes what the client sends after the end of the reply', async () => {
    const exit = await stage.scripted(async (peer) => {
      await peer.openTunnel();
      peer.write('greeting').end();
      await peer.until('thanks');
    });
    const client = await startTunnel(exit);
    await client.until('greeting');
    await client.ended();
    client.write('thanks').end();
    await (await exit.peer(0)).until('thanks');
    await exit.idle();
  });

  it('is closed when the other side says nothing for timeouts.half_close', async () => {
    const exit = await stage.scripted((peer) => {
      peer.keepsHalfOpen = true;
      void peer.openTunnel();
    });
    const gateway = await stage.gateway([exit], { timeouts: { half_close: '100ms' } });
    const { client } = await connect(gateway, 'site.example:443');
    client.write('ping').end();
    await client.closed();
    expect((await gateway.event('exchange_ended')).end).toBe('timeout');
  });
});

describe('L02 a client that ends its side behind its request', () => {
  const late = () =>
    stage.scripted(async (peer) => {
      await peer.request();
      await new Promise((resolve) => setTimeout(resolve, 100));
      peer.answer('late page');
    });

  it('gets the whole answer', async () => {
    const gateway = await stage.gateway([await late()]);
    const client = await RawClient.connect(gateway.port);
    client.write(headFor(page, { fields: ['Connection: close'] })).end();
    expect((await client.answer()).body.toString()).toBe('late page');
    expect(await client.closed()).toBe('fin');
  });

  it('has left where the route says so', async () => {
    const exit = await stage.scripted(async (peer) => {
      await peer.request();
      await peer.gone();
    });
    const gateway = await stage.gateway([exit], { routes: [{ on_client_fin: 'abort' }] });
    const client = await RawClient.connect(gateway.port);
    client.write(headFor(page)).end();
    await exit.peer(0);
    await exit.idle();
    expect((await gateway.event('exchange_ended')).end).toBe('client_gone');
    client.destroy();
  });
});

describe('L03 a reader slower than the sender', () => {
  const body = Buffer.alloc(8 * 1024 * 1024);
  for (let at = 0; at < body.length; at += 4) body.writeUInt32BE(at, at);
  const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
  const chunk = body.subarray(0, 1024 * 1024);
  const chunks = Buffer.concat(
    Array.from({ length: 8 }, (_, n) => [
      Buffer.from(`${chunk.length.toString(16)}\r\n`),
      body.subarray(n * chunk.length, (n + 1) * chunk.length),
      Buffer.from('\r\n'),
    ]).flat(),
  );

  const plain = (head: string, content: Buffer) => async (peer: Peer) => {
    await peer.request();
    peer.write(`HTTP/1.1 200 OK\r\n${head}\r\n`).write(content).end();
  };
  const wholes = {
    'length-framed': plain(`Content-Length: ${body.length}\r\n`, body),
    chunked: plain('Transfer-Encoding: chunked\r\n', Buffer.concat([chunks, Buffer.from('0\r\n\r\n')])),
    'until close': plain('Connection: close\r\n', body),
    tunnel: async (peer: Peer) => {
      await peer.openTunnel();
      peer.write(body).end();
    },
  };

  it.each(Object.entries(wholes))('%s: gets all of it, then the end', async (kind, script) => {
    const clock = jumpingClock();
    const exit = await stage.scripted(script);
    const gateway = await stage.gateway([exit], {}, { parts: { clock } });
    const client = await RawClient.connect(gateway.port);
    const head = kind === 'tunnel' ? headFor('site.example:443', { method: 'CONNECT' }) : headFor(page);
    // 1.0, so that nothing but the end of the connection tells the end.
    client.write(kind === 'tunnel' ? head : head.replace('HTTP/1.1', 'HTTP/1.0'));
    await client.untilBytes(64 * 1024);
    client.pause();
    await settled('the sender to be stopped', () => exit.peers[0]?.socket.bytesWritten ?? 0);
    clock.jump(5_000);
    await settled('deadlines to pass', () => client.socket.bytesRead);
    client.resume();
    await client.ended();
    expect(client.ending).toBe('fin');
    const content = client.received.subarray(client.text.indexOf('\r\n\r\n') + 4);
    expect(content.length).toBe(body.length);
    expect(sha(content)).toBe(sha(body));
    client.destroy();
  });
});

describe('L05 a client that leaves while its tunnel is being made', () => {
  it.each(['CONNECT', 'GET'])('%s: nothing is left over', async (method) => {
    const exit = await stage.scripted(async (peer) => {
      await peer.head();
      await peer.gone();
      peer.write('HTTP/1.1 200 OK\r\n\r\n');
    });
    const gateway = await stage.gateway([exit]);
    const client = await RawClient.connect(gateway.port);
    client.write(headFor(method === 'GET' ? page : 'site.example:443', { method }));
    await (await exit.peer(0)).until('\r\n\r\n');
    client.reset();
    await exit.idle();
    expect(await gateway.event('exchange_ended')).toMatchObject({
      end: 'client_gone',
      verdict: 'client_gone',
    });
    expect(gateway.events.some((event) => event.type === 'exit_banned')).toBe(false);
    expect(await gateway.close()).toEqual({ cut: 0 });
  });
});

describe('L07 a reset that comes in one piece with bytes', () => {
  it.each(['CONNECT', 'GET', 'POST'])('of a client, behind its %s: it has left', async (method) => {
    const exit = await stage.scripted(async (peer) => {
      await peer.head();
      await peer.gone();
    });
    const gateway = await stage.gateway([exit]);
    for (let n = 0; n < 20; n++) {
      const client = await RawClient.connect(gateway.port);
      client.write(headFor(method === 'CONNECT' ? 'site.example:443' : page, { method }));
      client.reset();
    }
    const closed = () => gateway.events.filter((event) => event.type === 'client_disconnected').length;
    await waitFor('all to be closed', () => closed() === 20);
    await exit.idle();
    const ends = gateway.events.filter((event) => event.type === 'exchange_ended');
    expect(new Set(ends.map(({ end }) => end))).toEqual(new Set(['client_gone']));
  });

  it('of an upstream, behind a body that lasts until the end: the answer was cut', async () => {
    const exit = await stage.scripted(async (peer) => {
      await peer.request();
      peer.write(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${'x'.repeat(1000)}`).reset();
    });
    const gateway = await stage.gateway([exit], { bans: { max_ejected: 0 } });
    for (const version of ['HTTP/1.0', 'HTTP/1.1']) {
      const client = await RawClient.connect(gateway.port);
      client.write(headFor(page, { fields: ['X-Turnpike-Detect: off'] }).replace('HTTP/1.1', version));
      await client.ended();
      expect(client.text.endsWith('0\r\n\r\n')).toBe(false);
      client.destroy();
    }
    // Asked of the gateway, since this client could take the reset that it gets for an end itself.
    const ends = gateway.events.filter((event) => event.type === 'exchange_ended').map((event) => event.end);
    expect(ends.length).toBe(2);
    expect(ends).not.toContain('complete');
  });
});

describe('L07 a client that aborts', () => {
  const piece = Buffer.alloc(64 * 1024, 'x');
  const endless = (peer: Peer): void => {
    const pump = (): void => {
      while (!peer.isClosed && peer.socket.write(piece));
    };
    peer.socket.on('drain', pump);
    pump();
  };
  const limit = 24 * 1024 * 1024;

  async function abortAfterOneMegabyte(
    gateway: TestGateway,
    exit: ScriptedUpstream,
    head: string,
  ): Promise<void> {
    const client = await RawClient.connect(gateway.port);
    client.write(head);
    await client.untilBytes(1024 * 1024);
    client.reset();
    await exit.idle();
    expect(exit.peers[0]?.socket.bytesWritten).toBeLessThan(limit);
    expect((await gateway.event('exchange_ended')).end).toBe('client_gone');
  }

  it('a download: the transfer stops', async () => {
    const exit = await stage.scripted(async (peer) => {
      await peer.request();
      peer.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n');
      endless(peer);
    });
    await abortAfterOneMegabyte(await stage.gateway([exit]), exit, headFor(page));
  });

  it('a tunnel: the transfer stops', async () => {
    const exit = await stage.scripted(async (peer) => {
      await peer.openTunnel();
      endless(peer);
    });
    const head = headFor('site.example:443', { method: 'CONNECT' });
    await abortAfterOneMegabyte(await stage.gateway([exit]), exit, head);
  });

  it('an upload that was sent whole, before its answer: the upstream is told', async () => {
    const exit = await stage.scripted(async (peer) => {
      await peer.request();
      await peer.gone();
    });
    const gateway = await stage.gateway([exit, await stage.good('other')]);
    const client = await RawClient.connect(gateway.port);
    client.write(`${headFor(page, { method: 'POST', body: 'abc' })}abc`);
    await (await exit.peer(0)).until('abc');
    client.reset();
    await exit.idle();
    expect(await gateway.event('exchange_ended')).toMatchObject({ end: 'client_gone', attempts: 1 });
    expect((await ask(gateway, page)).status).toBe(200);
  });
});
