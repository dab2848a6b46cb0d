/** Field cases of kind L and X: clients that end early, read slowly, or only ask. */
import { describe, expect, it, vi } from 'vitest';
import { TimerWheel } from '../../src/core/timer-wheel.js';
import { Wire } from '../../src/open/wire.js';
import { jumpingClock, type JumpingClock } from '../support/jumping-clock.js';
import { openSockets, socketsBackTo } from '../support/probes.js';
import { getHead, requestHead, startRig } from '../support/rig.js';
import { serveEach } from '../support/scripted-upstream.js';
import { waitFor } from '../support/wait.js';

const postHead = requestHead('POST http://a.test/', 'Host: a.test', 'Content-Length: 100');
const chunkedHead = requestHead('POST http://a.test/', 'Host: a.test', 'Transfer-Encoding: chunked');

describe('a client that cuts or garbles its own body', () => {
  it.each(['end', 'reset'] as const)(
    'by %s leaves no socket behind, and the exit is not blamed',
    async (how) => {
      const { client, upstream, gateway } = await startRig(async (peer) => {
        await peer.head();
      });
      const before = openSockets();
      for (const [nth, head] of [postHead, chunkedHead, postHead].entries()) {
        const c = await client();
        c.write(`${head}5\r\nhel`);
        await (await upstream.peer(nth)).until('\r\n\r\n');
        c[how]();
        if (how === 'end') await c.ended();
        c.destroy();
        await upstream.idle();
      }
      await socketsBackTo(before);
      const attempts = gateway.events.filter((event) => event.type === 'attempt_ended');
      expect(attempts.map((event) => event.verdict)).toEqual(Array(3).fill('client_gone'));
      for (const peer of upstream.peers) expect(peer.text).not.toMatch(/\r\n0\r\n\r\n$/);
    },
  );

  it.each([
    ['a chunk size that is none', `${chunkedHead}5\r\nhello\r\nxyz\r\n`],
    ['a chunk without line end', `${chunkedHead}5\r\nhelloworld`],
  ])('%s is 400 however often, and the exit stays', async (_, bytes) => {
    const { client, upstream, gateway } = await startRig(async (peer) => {
      const head = await peer.head();
      if (head.startsWith('GET')) peer.answer('page');
    });
    for (let nth = 0; nth < 6; nth++) {
      const c = await client();
      const answer = await c.write(bytes).answer();
      expect(answer.status).toBe(400);
      expect(await c.ended()).toBe('fin');
    }
    expect((await (await client()).write(getHead()).answer()).status).toBe(200);
    for (const peer of upstream.peers) expect(peer.text).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(gateway.events.filter((event) => event.type === 'exit_banned')).toEqual([]);
  });

  it('a body that stops coming is 408', async () => {
    const { client, upstream, gateway } = await startRig(async (peer) => void (await peer.head()), {
      config: { timeouts: { body_idle: '100ms' } },
    });
    for (let nth = 0; nth < 3; nth++) {
      const answer = await (await client()).write(`${postHead}part`).answer();
      expect(answer.status).toBe(408);
    }
    await upstream.idle();
    expect(gateway.events.filter((event) => event.type === 'exit_banned')).toEqual([]);
  });
});

describe('L02 a client that ends its side behind a whole request', () => {
  it('gets its answer, and those to all requests it pipelined', async () => {
    const { client } = await startRig(
      serveEach(async (peer, { head }) => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        peer.answer(/^GET \S+/.exec(head)?.[0] ?? '');
      }),
    );
    const c = await client();
    c.write(getHead('http://a.test/1') + getHead('http://a.test/2') + getHead('http://a.test/3'));
    c.end();
    expect(await c.ended()).toBe('fin');
    expect(c.text.match(/GET http:\/\/a\.test\/\d/g)).toEqual([1, 2, 3].map((n) => `GET http://a.test/${n}`));
  });
});

/** Waits until deadlines that are due have fired: the wheel looks every 50 ms. */
async function wheelTurns(clock: JumpingClock): Promise<void> {
  const wheel = new TimerWheel(clock);
  await new Promise<void>((resolve) => wheel.arm(100, resolve));
}

describe('L03 X01 a client that reads slowly or not at all', () => {
  const size = 24_000_000;

  it('gets the last byte of an answer behind which its connection is closed, however late', async () => {
    const clock = jumpingClock();
    const { client } = await startRig(
      serveEach((peer) => void peer.answer('the last byte')),
      { parts: { clock } },
    );
    const wires = vi.spyOn(Wire, 'around');
    const c = await client();
    // What is spoken is known by the first byte.
    const request = getHead('http://a.test/', 'Connection: close');
    c.write(request.slice(0, 1));
    await waitFor('the connection', () => wires.mock.results.length > 0);
    const { socket } = wires.mock.results[0]?.value as Wire;
    // Stands for a kernel that takes nothing more for now.
    const write = socket._write.bind(socket);
    let letGo: (() => void) | undefined;
    socket._write = (chunk, encoding, callback) => {
      letGo = () => write(chunk, encoding, callback);
    };
    c.write(request.slice(1));
    await waitFor('the answer to wait', () => letGo !== undefined && socket.writableEnded);
    clock.jump(30_000);
    await wheelTurns(clock);
    letGo?.();
    expect(await c.ended()).toBe('fin');
    expect(c.text).toMatch(/the last byte$/);
  });

  it('that leaves then frees the upstream, wherever the last bytes were', async () => {
    const { client, upstream } = await startRig(
      serveEach((peer) => {
        peer.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
        peer.write(Buffer.alloc(size, 'x'));
      }),
    );
    const before = openSockets();
    for (let nth = 0; nth < 3; nth++) {
      const c = await client();
      c.write(getHead());
      await c.head();
      c.pause();
      await waitFor(
        'the upstream to be held up',
        () => (upstream.peers.at(-1)?.socket.writableLength ?? 0) > 0,
      );
      c.reset();
      await upstream.idle();
    }
    await socketsBackTo(before);
  });

  const requests = 3000;

  /** Asks for 90 MB without reading; resolves with the count of answers when the gateway stands still. */
  async function askOnly() {
    const answered = { count: 0 };
    // Comes in one read, so that nothing but the order of requests holds the gateway back.
    const body = 'x'.repeat(30_000);
    const rig = await startRig(
      serveEach((peer) => {
        answered.count++;
        peer.answer(body);
      }),
    );
    const c = await rig.client();
    c.pause();
    c.write(getHead().repeat(requests));
    let last = -1;
    let stillFor = 0;
    await waitFor('the gateway to stand still', () => {
      stillFor = answered.count === last && last > 0 ? stillFor + 1 : 0;
      last = answered.count;
      return stillFor > 20;
    });
    return { ...rig, c, answered };
  }

  it('that only asks is not answered without end: its requests wait', async () => {
    const { c, answered } = await askOnly();
    // What the kernel takes is served, and one more.
    expect(answered.count).toBeLessThan(requests / 2);
    const served = answered.count;
    c.resume();
    await waitFor('it to go on', () => answered.count > served + 50);
  });

  it('that leaves with the last bytes of an answer unsent gives the upstream connection back', async () => {
    const { c, upstream, gateway } = await askOnly();
    c.reset();
    await gateway.event('client_disconnected');
    // A connection that was not given back would not be read, and its end not seen.
    const peer = await upstream.peer(0);
    peer.end();
    await peer.gone();
  });
});

describe('a kept connection to an upstream', () => {
  it('is seen to close while it waits, and is not used again', async () => {
    const { client, upstream } = await startRig(serveEach((peer) => void peer.answer('x'.repeat(50_000))));
    const c = await client();
    await c.write(getHead()).answer();
    upstream.peers[0]?.end();
    await (await upstream.peer(0)).gone();
    const answer = await c
      .write(requestHead('POST http://a.test/', 'Host: a.test', 'Content-Length: 0'))
      .answer();
    expect(answer.status).toBe(200);
    expect(upstream.accepts).toBe(2);
  });

  it('on which a GET with a body was sent is not used again', async () => {
    const { client, upstream } = await startRig(serveEach((peer) => void peer.answer('page')));
    const c = await client();
    const withBody = requestHead('GET http://a.test/', 'Host: a.test', 'Content-Length: 5');
    await c.write(`${withBody}hello`).answer();
    await c.write(getHead()).answer();
    expect(fieldsIn(upstream.heads[0])).toContain('content-length: 5');
    expect(upstream.accepts).toBe(2);
  });
});

function fieldsIn(head: string | undefined): string {
  return (head ?? '').toLowerCase();
}
