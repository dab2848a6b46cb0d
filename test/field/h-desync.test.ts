/** H01 and beyond: requests and answers after which the two sides of a connection could lose each other. */
import net from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { fieldsOf, messageOf } from '../support/raw-client.js';
import { getHead, requestHead, startRig } from '../support/rig.js';
import { serveEach } from '../support/scripted-upstream.js';

const page = serveEach((peer) => void peer.answer('page'));
const hidden = 'GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n';
const upgrade = ['Connection: Upgrade', 'Upgrade: websocket'];

describe('a request with a body that asks for an upgrade', () => {
  it.each([
    ['a length', [`Content-Length: ${hidden.length}`], hidden],
    ['chunks', ['Transfer-Encoding: chunked'], `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`],
  ])('by %s keeps its framing and is not upgraded', async (_, framing, body) => {
    const { client, upstream } = await startRig(async (peer) => {
      await peer.until('evil.test\r\n\r\n');
      peer.answer('page');
    });
    const answer = await (
      await client()
    )
      .write(getHead('http://a.test/', ...upgrade, ...framing) + body)
      .answer();
    expect(answer.status).toBe(200);
    const sent = (await upstream.peer(0)).text;
    const head = sent.slice(0, sent.indexOf('\r\n\r\n') + 2);
    for (const field of framing) expect(head).toContain(`${field}\r\n`);
    expect(head).not.toMatch(/upgrade/i);
    expect(sent.endsWith(body)).toBe(true);
  });
});

describe('a body after a method that has none usually', () => {
  it.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'REPORT'])(
    '%s: the connection is not used again',
    async (method) => {
      const { client, upstream } = await startRig(
        serveEach((peer) => void peer.write('HTTP/1.1 204 No Content\r\n\r\n')),
      );
      const c = await client();
      c.write(`${requestHead(`${method} http://a.test/`, 'Host: a.test', 'Content-Length: 5')}hello`);
      expect((await c.answer()).status).toBe(204);
      expect((await c.write(getHead()).answer()).status).toBe(204);
      expect(upstream.accepts).toBe(2);
    },
  );
});

describe('answers that have no body and announce one', () => {
  it('an interim answer goes on without its length', async () => {
    const { client } = await startRig(
      serveEach((peer) => {
        peer.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 5\r\n\r\n').answer('page');
      }),
    );
    const c = await client();
    c.write(getHead());
    const text = await c.until('page');
    const [interim = ''] = text.split('\r\n\r\n');
    expect(interim).toMatch(/^HTTP\/1\.1 103 .*\r\nLink: <\/a>$/);
  });

  it('so does a 204', async () => {
    const { client } = await startRig(
      serveEach((peer) => void peer.write('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n')),
    );
    const c = await client();
    for (const nth of [1, 2]) {
      const answer = await c.write(getHead()).answer();
      expect(answer.status, `answer ${nth}`).toBe(204);
      expect(fieldsOf(answer.head, 'content-length')).toEqual([]);
    }
  });
});

describe('a body that goes wrong when a part of it is at the upstream', () => {
  it('has the connection reset, not ended in order', async () => {
    // Asked of the socket: Node takes a reset that comes behind bytes for an end.
    const original = net.Socket.prototype.resetAndDestroy;
    const ports: unknown[] = [];
    vi.spyOn(net.Socket.prototype, 'resetAndDestroy').mockImplementation(function (this: net.Socket) {
      ports.push(this.remotePort);
      return original.call(this);
    });
    const { client, upstream } = await startRig(async (peer) => void (await peer.gone()));
    const c = await client();
    c.write(
      `${requestHead('POST http://a.test/', 'Host: a.test', 'Transfer-Encoding: chunked')}5\r\nhello\r\n`,
    );
    await (await upstream.peer(0)).until('hello');
    expect((await c.write('xyz\r\n').answer()).status).toBe(400);
    await upstream.idle();
    expect(ports).toEqual([upstream.port]);
  });
});

describe('half a request behind a whole one, and FIN', () => {
  const post = requestHead('POST http://a.test/', 'Host: a.test', 'Content-Length: 9');
  it.each([
    ['a head', 'GET http://a.test/ HT'],
    ['a body', `${post}half`],
  ])('%s: the client is answered once and the connection ends', async (_, half) => {
    const { client, gateway } = await startRig(page, {
      config: { timeouts: { client_header: '60s', body_idle: '60s' } },
    });
    const c = await client();
    c.write(getHead() + half).end();
    expect((await c.answer()).status).toBe(200);
    await c.ended();
    await gateway.event('client_disconnected');
  });
});

describe('methods that some servers read in any case', () => {
  it.each([
    ['TRACE', 501],
    ['trace', 501],
    ['Track', 501],
    ['connect', 400],
    ['Connect', 400],
  ])('%s is %i', async (method, status) => {
    const { client, upstream } = await startRig(page);
    const answer = await (
      await client()
    )
      .write(requestHead(`${method} http://a.test/`, 'Host: a.test'))
      .answer();
    expect(answer.status).toBe(status);
    expect(upstream.accepts).toBe(0);
  });

  it.each(['get', 'TRACES', 'CONNECTS'])('%s is a method like any other', async (method) => {
    const { client } = await startRig(page);
    const c = await client();
    c.write(requestHead(`${method} http://a.test/`, 'Host: a.test'));
    expect(messageOf(await c.head()).status).toBe(200);
  });
});

describe('X-Turnpike-Loop of a client', () => {
  it('goes on to upstreams by CONNECT with ids of gateways only', async () => {
    const { client, upstream } = await startRig(async (peer) => {
      await peer.openTunnel();
      peer.echo();
    });
    const c = await client();
    const loop = ['X-Turnpike-Loop: 0badcafe, secret', 'X-Turnpike-Loop: 1badcafe, 0BADCAFEE'];
    c.write(requestHead('CONNECT a.test:443', ...loop));
    expect(messageOf(await c.head()).status).toBe(200);
    const [trail = ''] = fieldsOf((await upstream.peer(0)).text, 'x-turnpike-loop');
    expect(trail).toMatch(/^0badcafe, 1badcafe, [0-9a-f]{8}$/);
  });
});
