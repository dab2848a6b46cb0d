/** Field cases of kind L and X: clients that end early, read slowly, or only ask. */
import { describe, expect, it } from 'vitest';
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

describe('L03 X01 a client that reads slowly or not at all', () => {
  const size = 24_000_000;

  it('gets every byte of an answer that is closed behind it, though it stops longer than the linger time', async () => {
    const body = Buffer.alloc(size, '0123456789abcdef');
    const { client } = await startRig(async (peer) => {
      await peer.head();
      peer.write(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`).write(body);
      peer.end();
    });
    const c = await client();
    c.write(getHead('http://a.test/', 'Connection: close'));
    await c.head();
    c.pause();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    c.resume();
    expect(await c.ended(20_000)).toBe('fin');
    expect(c.received.subarray(-size).equals(body)).toBe(true);
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

  /** Asks for 200 MB without reading; resolves with the count of answers when the gateway stands still. */
  async function askOnly(requests: number) {
    const answered = { count: 0 };
    const body = 'x'.repeat(100_000);
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
    const { c, answered } = await askOnly(1000);
    // What the kernel takes is served, and one more.
    expect(answered.count).toBeLessThan(500);
    c.resume();
    await waitFor('all answers', () => answered.count === 1000, 60_000);
  });

  it('that leaves with the last bytes of an answer unsent gives the upstream connection back', async () => {
    const { c, upstream, gateway } = await askOnly(1000);
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
