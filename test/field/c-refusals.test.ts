/** Field cases of kind C: a CONNECT that fails, and what the client is told. */
import { describe, expect, it } from 'vitest';
import { fieldsOf, messageOf, type RawMessage } from '../support/raw-client.js';
import { connectHead, getHead, login, startRig } from '../support/rig.js';
import { echoTunnel, refusedPort, serveEach, type Script } from '../support/scripted-upstream.js';
import { openSockets, socketsBackTo } from '../support/probes.js';
import { waitFor } from '../support/wait.js';

const once = { routes: [{ match: {}, pools: ['main'], retries: 0 }] };

function problemOf(answer: RawMessage): { code: string; blame: string } {
  return JSON.parse(answer.body.toString()) as { code: string; blame: string };
}

describe('C04 no 200 before the onward tunnel stands', () => {
  it('a refused dial is 502 upstream_refused', async () => {
    const port = await refusedPort();
    const { client } = await startRig(() => undefined, { upstreams: () => [`http://127.0.0.1:${port}`] });
    const c = await client();
    const answer = await c.write(connectHead()).answer();
    expect(answer.status).toBe(502);
    expect(problemOf(answer)).toMatchObject({ code: 'upstream_refused', blame: 'upstream' });
    expect(await c.ended()).toBe('fin');
  });

  it.each(['502 Bad Gateway', '503 Service Unavailable', '403 Forbidden', '500 Oops', '404 Not Found'])(
    'an upstream that answers %s is 502',
    async (status) => {
      const { client } = await startRig(serveEach((peer) => void peer.answer('no', status)));
      const answer = await (await client()).write(connectHead()).answer();
      expect(answer.status).toBe(502);
      expect(problemOf(answer).code).toBe('upstream_error');
    },
  );

  it.each([
    ['101', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
    ['interim answers without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5000)],
  ])('H37 an upstream that answers %s is 502 at once, and not waited for', async (_, bytes) => {
    const { client, upstream } = await startRig(
      async (peer) => {
        await peer.head();
        peer.write(bytes);
      },
      { config: once },
    );
    const answer = await (await client()).write(connectHead()).answer(10_000);
    expect([answer.status, problemOf(answer).code]).toEqual([502, 'upstream_protocol']);
    await upstream.idle();
  });

  it('a silent upstream is 504', async () => {
    const { client, upstream } = await startRig(() => undefined, {
      config: { ...once, timeouts: { first_byte: '100ms' } },
    });
    const answer = await (await client()).write(connectHead()).answer();
    expect(answer.status).toBe(504);
    expect(problemOf(answer).code).toBe('upstream_timeout');
    await upstream.idle();
  });

  it('an upstream that closes instead of answering is 502 upstream_closed', async () => {
    const { client } = await startRig(async (peer, nth) => {
      await peer.head();
      if (nth % 2 === 0) peer.end();
      else peer.reset();
    });
    const answer = await (await client()).write(connectHead()).answer();
    expect(answer.status).toBe(502);
    expect(problemOf(answer).code).toBe('upstream_closed');
  });

  it('nothing at all is written before', async () => {
    let isOpen = false;
    const { client, upstream } = await startRig(async (peer) => {
      await peer.head();
      await waitFor('the test', () => isOpen);
      peer.write('HTTP/1.1 200 OK\r\n\r\n');
    });
    const c = await client();
    c.write(connectHead());
    await (await upstream.peer(0)).until('\r\n\r\n');
    expect(c.text).toBe('');
    isOpen = true;
    expect(messageOf(await c.head()).status).toBe(200);
  });
});

describe('C05 a failed CONNECT says why before it closes', () => {
  it('with a whole answer, a cause for machines, and a line in the log', async () => {
    const ports = [await refusedPort(), await refusedPort()];
    const { client, gateway } = await startRig(() => undefined, {
      upstreams: () => ports.map((port) => `http://127.0.0.1:${port}`),
    });
    const c = await client();
    const answer = await c.write(connectHead()).answer();
    expect(fieldsOf(answer.head, 'content-length')).toEqual([String(answer.body.length)]);
    expect(fieldsOf(answer.head, 'content-type')).toEqual(['application/problem+json']);
    expect(fieldsOf(answer.head, 'proxy-status')[0]).toContain('error=connection_refused');
    expect(fieldsOf(answer.head, 'x-turnpike-attempts')).toEqual(['2']);
    expect(await c.ended()).toBe('fin');
    expect(c.text).toBe('');
    const ended = await gateway.event('exchange_ended');
    expect(ended).toMatchObject({ kind: 'tunnel', status: 502, code: 'upstream_refused', attempts: 2 });
  });
});

describe('C07 an upstream that accepts and stays silent', () => {
  it.each([
    ['CONNECT', connectHead()],
    ['GET', getHead()],
  ])('100 clients of %s that reset leave no socket behind, long before any deadline', async (_, head) => {
    const { client, upstream } = await startRig(() => undefined);
    const before = openSockets();
    const clients = await Promise.all(Array.from({ length: 100 }, () => client()));
    for (const c of clients) c.write(head);
    await waitFor('100 dials', () => upstream.accepts === 100);
    for (const c of clients) c.reset();
    await upstream.idle();
    await socketsBackTo(before);
  });

  it.each([
    ['CONNECT', connectHead()],
    ['GET', getHead()],
  ])('100 clients of %s that just close are gone after the deadline', async (_, head) => {
    const { client, upstream } = await startRig(() => undefined, {
      config: { ...once, timeouts: { first_byte: '500ms' } },
      // One each, since an exit that is silent again and again would be left alone.
      upstreams: ({ loginUrl }) => Array.from({ length: 100 }, (_, nth) => loginUrl(`u${nth}`, 'x')),
    });
    const before = openSockets();
    const clients = await Promise.all(Array.from({ length: 100 }, () => client()));
    for (const c of clients) c.write(head);
    await waitFor('100 dials', () => upstream.accepts === 100);
    for (const c of clients) c.destroy();
    await upstream.idle();
    await socketsBackTo(before);
  });

  it('is 504 at the deadline for the answer, and both sockets go', async () => {
    const { client, upstream } = await startRig(() => undefined, {
      config: { ...once, timeouts: { dial: '10s', first_byte: '100ms' } },
    });
    const before = openSockets();
    for (const head of [connectHead(), getHead('http://a.test/', 'Connection: close')]) {
      const c = await client();
      expect((await c.write(head).answer()).status).toBe(504);
      expect(await c.ended()).toBe('fin');
      c.destroy();
    }
    await upstream.idle();
    await socketsBackTo(before);
  });
});

describe('C09 a refusal with a body', () => {
  it('that comes late is not taken for the next message; the connection is dropped', async () => {
    const refuse: Script = async (peer) => {
      await peer.head();
      peer.write('HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n');
      await peer.gone();
      peer.write('5\r\nHTTP/');
      peer.write('\r\n0\r\n\r\n');
    };
    const { client, upstream } = await startRig((peer, nth) =>
      nth === 0 ? refuse(peer, nth) : echoTunnel(peer, nth),
    );
    const c = await client();
    const refused = await c.write(connectHead()).answer();
    expect(refused.status).toBe(502);
    await c.ended();
    expect(c.text).toBe('');
    const second = await client();
    second.write(`${connectHead()}ping`);
    expect(await second.until('ping')).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nping$/);
    expect(upstream.accepts).toBe(2);
  });

  it('is retried elsewhere on a connection of its own; the client sees one answer', async () => {
    const { client, upstream } = await startRig(
      async (peer, nth) => {
        if (nth > 0) return echoTunnel(peer, nth);
        await peer.head();
        peer.write('HTTP/1.1 503 Busy\r\nContent-Length: 20\r\n\r\n');
        peer.write('HTTP/1.1 200 OK\r\n\r\n');
      },
      { upstreams: ({ url, loginUrl }) => [url, loginUrl('other', 'x')] },
    );
    const c = await client();
    c.write(`${connectHead()}ping`);
    const text = await c.until('ping');
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(upstream.accepts).toBe(2);
  });
});

describe('C17 bytes behind a CONNECT that is refused', () => {
  const smuggled = getHead('http://evil.test/');

  it('by the upstream are not run as a request', async () => {
    const { client, upstream, gateway } = await startRig(
      serveEach((peer) => void peer.answer('no', '403 Forbidden')),
      { config: once },
    );
    const c = await client();
    const refused = await c.write(connectHead() + smuggled).answer();
    expect(refused.status).toBe(502);
    expect(await c.ended()).toBe('fin');
    expect(c.text).toBe('');
    expect(upstream.peers.map((peer) => peer.text).join('')).not.toContain('evil.test');
    expect(gateway.events.filter((event) => event.type === 'exchange_ended')).toHaveLength(1);
  });

  it.each(['a.test:0', '127.0.0.2:443'])('by the gateway itself are not run: %s', async (authority) => {
    const { client, upstream } = await startRig(echoTunnel, { config: { targets: { allow: [] } } });
    const c = await client();
    await c.write(connectHead(authority) + smuggled).answer();
    expect(await c.ended()).toBe('fin');
    expect(c.text).toBe('');
    expect(upstream.accepts).toBe(0);
  });

  it('for want of a login are not run, though the 407 alone would keep the connection', async () => {
    const { client, upstream } = await startRig(
      serveEach((peer) => void peer.answer('page')),
      {
        config: { clients: [{ name: 'u', password: 'p' }] },
      },
    );
    const c = await client();
    const withLogin = getHead('http://evil.test/', login('u', 'p'));
    const refused = await c.write(connectHead() + withLogin).answer();
    expect(refused.status).toBe(407);
    expect(fieldsOf(refused.head, 'connection')).toEqual(['close']);
    expect(await c.ended()).toBe('fin');
    expect(c.text).toBe('');
    expect(upstream.accepts).toBe(0);
  });

  it.each(['websocket', 'h2c'])('behind an upgrade to %s that is refused are not run either', async (to) => {
    const { client, upstream } = await startRig(serveEach((peer) => void peer.answer('page')));
    const c = await client();
    const upgrade = getHead('http://a.test/', 'Connection: Upgrade', `Upgrade: ${to}`);
    const answer = await c.write(upgrade + smuggled).answer();
    expect(answer.body.toString()).toBe('page');
    expect(fieldsOf(answer.head, 'connection')).toEqual(['close']);
    expect(await c.ended()).toBe('fin');
    expect(c.text).toBe('');
    expect(upstream.heads).toHaveLength(1);
  });
});

describe('C18 A14 a 407 on CONNECT', () => {
  it('names the challenge, has an exact length and keeps the connection for the second try', async () => {
    const { client } = await startRig(echoTunnel, { config: { clients: [{ name: 'u', password: 'p' }] } });
    const c = await client();
    const challenge = await c.write(connectHead()).answer();
    expect(challenge.status).toBe(407);
    expect(fieldsOf(challenge.head, 'proxy-authenticate')[0]).toMatch(/^Basic realm="[^"]+"/);
    expect(fieldsOf(challenge.head, 'connection')).toEqual([]);
    expect(problemOf(challenge).code).toBe('auth_required');
    c.write(`${connectHead('a.test:443', login('u', 'p'))}ping`);
    expect(await c.until('ping')).toMatch(/^HTTP\/1\.1 200 /);
  });
});
