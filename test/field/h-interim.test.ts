/** Field cases of kind H: waiting for a word (Expect, 1xx) and becoming something else (Upgrade). */
import { describe, expect, it } from 'vitest';
import { fieldsOf, messageOf } from '../support/raw-client.js';
import { getHead, requestHead, startRig } from '../support/rig.js';
import { serveEach, type Peer } from '../support/scripted-upstream.js';
import { openSockets, socketsBackTo } from '../support/probes.js';
import { waitFor } from '../support/wait.js';

const body = Buffer.alloc(1_000_000, '0123456789');

function postHead(...fields: string[]): string {
  return requestHead(
    'POST http://a.test/up',
    'Host: a.test',
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
    ...fields,
  );
}

async function readBody(peer: Peer): Promise<void> {
  await waitFor('the whole body', () => peer.rest.length >= body.length);
}

describe('H16 Expect: 100-continue', () => {
  it('(a) is passed on, and so is the 100; the body follows it', async () => {
    const { client, upstream } = await startRig(async (peer) => {
      await peer.head();
      expect(peer.rest).toBe('');
      peer.write('HTTP/1.1 100 Continue\r\n\r\n');
      await readBody(peer);
      peer.answer('thanks');
    });
    const c = await client();
    c.write(postHead());
    expect(messageOf(await c.head()).status).toBe(100);
    expect(fieldsOf((await upstream.peer(0)).text, 'expect')).toEqual(['100-continue']);
    c.take();
    c.write(body);
    const answer = await c.answer();
    expect(answer.status).toBe(200);
    expect((await upstream.peer(0)).rest).toBe(body.toString());
  });

  it('(b) a 417 is the answer; no 100 is made up, and the body is not waited for', async () => {
    const { client } = await startRig(serveOnce((peer) => void peer.answer('no', '417 Expectation Failed')));
    const c = await client();
    const answer = await c.write(postHead()).answer();
    expect(answer.status).toBe(417);
    expect(fieldsOf(answer.head, 'connection')).toEqual(['close']);
    expect(await c.ended()).toBe('fin');
    expect(c.text).toBe('');
  });

  it.each([
    ['(c) a target that never says 100', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'],
    ['(d) a 1.0 upstream', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  ])('%s: the client gets one from us and is not blocked', async (_, bytes) => {
    const { client } = await startRig(
      serveOnce(async (peer) => {
        await readBody(peer);
        peer.write(bytes);
      }),
    );
    const c = await client();
    c.write(postHead());
    expect(messageOf(await c.head()).status).toBe(100);
    c.take();
    c.write(body);
    const answer = await c.answer();
    expect(answer.status).toBe(200);
    expect(answer.body.toString()).toBe('ok');
  });

  it('a client that does not wait gets no 100', async () => {
    const { client } = await startRig(
      serveOnce(async (peer) => {
        await readBody(peer);
        peer.answer('thanks');
      }),
    );
    const c = await client();
    c.write(postHead());
    c.write(body);
    expect((await c.answer()).status).toBe(200);
  });
});

/** A script for one request whose body the test reads itself. */
function serveOnce(respond: (peer: Peer) => Promise<void> | void) {
  return async (peer: Peer): Promise<void> => {
    await peer.head();
    await respond(peer);
  };
}

describe('H17 interim answers', () => {
  it('each comes once, in order, before the final one', async () => {
    const { client } = await startRig(
      serveOnce((peer) => {
        peer.write('HTTP/1.1 102 Processing\r\nContent-Length: 4\r\n\r\n');
        peer.write('HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n');
        peer.answer('page');
      }),
    );
    const c = await client();
    c.write(getHead());
    const text = await c.until('page');
    expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 102', 'HTTP/1.1 103', 'HTTP/1.1 200']);
    // None may stand in an interim answer (RFC 9110, section 8.6).
    expect(fieldsOf(text, 'content-length')).toEqual(['4']);
    expect(text.indexOf('Content-Length')).toBeGreaterThan(text.indexOf('HTTP/1.1 200'));
  });

  it('three 100s become one, and none when nobody waits', async () => {
    const threeTimes = serveOnce(async (peer) => {
      peer.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(3));
      if (peer.text.startsWith('POST')) await readBody(peer);
      peer.answer('page', '200 OK', ['Connection: close']);
    });
    const { client } = await startRig(threeTimes);
    const waiting = await client();
    waiting.write(postHead());
    await waiting.head();
    waiting.write(body);
    const text = await waiting.until('page');
    expect(text.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200']);
    const other = await client();
    expect((await other.write(getHead()).answer()).status).toBe(200);
  });

  it('a 1.0 client gets none', async () => {
    const { client } = await startRig(
      serveOnce((peer) => {
        peer.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n');
        peer.answer('page');
      }),
    );
    const c = await client();
    c.write('GET http://a.test/ HTTP/1.0\r\nExpect: 100-continue\r\n\r\n');
    expect(await c.until('page')).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('H38 websocket through plain proxying', () => {
  const hiddenRequest = 'GET http://hidden.test/ HTTP/1.1\r\nHost: h.t\r\n\r\n';
  const upgrade = ['Connection: keep-alive, Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: k'];
  const switching =
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: a\r\n\r\n';

  it.each(['http://a.test/ws', 'ws://a.test/ws', 'ws://a.test:8080/ws'])(
    '%s: the 101 is relayed with its fields, then every byte both ways',
    async (url) => {
      const { client, upstream } = await startRig(
        serveOnce((peer) => {
          peer.write(`${switching}\x81\x02hi`);
          peer.echo();
        }),
      );
      const c = await client();
      c.write(getHead(url, ...upgrade));
      const text = await c.until('hi');
      expect(text).toMatch(/^HTTP\/1\.1 101 /);
      expect(fieldsOf(text, 'upgrade')).toEqual(['websocket']);
      expect(fieldsOf(text, 'connection').join()).toMatch(/^upgrade$/i);
      expect(fieldsOf(text, 'sec-websocket-accept')).toEqual(['a']);
      expect(text.endsWith('\r\n\r\n\x81\x02hi')).toBe(true);
      const sent = (await upstream.peer(0)).text;
      expect(sent).toMatch(/^GET http:\/\/a\.test(:8080)?\/ws HTTP\/1\.1\r\n/);
      expect(fieldsOf(sent, 'upgrade')).toEqual(['websocket']);
      expect(fieldsOf(sent, 'connection').join()).toMatch(/^upgrade$/i);
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i % 256));
      c.take();
      c.write(bytes);
      expect((await c.untilBytes(bytes.length)).equals(bytes)).toBe(true);
    },
  );

  it('bytes of the client glued to its head go to the far side once it switched', async () => {
    const { client } = await startRig(
      serveOnce((peer) => {
        peer.write(switching);
        peer.echo();
      }),
    );
    const c = await client();
    c.write(`${getHead('http://a.test/', ...upgrade)}early`);
    expect(await c.until('early')).toMatch(/^HTTP\/1\.1 101 /);
  });

  it.each([
    ['an upgrade to something else', 'Upgrade: h2c'],
    ['no Connection: Upgrade', 'X-A: b'],
  ])('%s is a plain exchange', async (_, field) => {
    const fields = field === 'X-A: b' ? ['Upgrade: websocket'] : ['Connection: Upgrade', field];
    const { client, upstream } = await startRig(serveEach((peer) => void peer.answer('page')));
    const answer = await (await client()).write(getHead('http://a.test/', ...fields)).answer();
    expect(answer.status).toBe(200);
    expect(upstream.heads[0]).not.toMatch(/upgrade/i);
  });

  it.each([
    ['by length', 'Content-Length: 47', hiddenRequest],
    ['in chunks', 'Transfer-Encoding: chunked', `2f\r\n${hiddenRequest}\r\n0\r\n\r\n`],
  ])(
    'H38 a body %s stays a body: the upgrade is not asked for, nothing is smuggled',
    async (_, field, sent) => {
      const { client, upstream } = await startRig(serveEach((peer) => void peer.answer('page')));
      const c = await client();
      c.write(`${requestHead('POST http://a.test/', 'Host: a.test', ...upgrade, field)}${sent}`);
      expect((await c.answer()).status).toBe(200);
      const got = (await upstream.peer(0)).text;
      expect(got).toContain(`\r\n${field}\r\n\r\n${sent}`);
      expect(got).not.toMatch(/upgrade/i);
    },
  );

  it.each([
    ['of another protocol', switching.replace('Upgrade: websocket', 'Upgrade: h2c')],
    ['without Upgrade', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
  ])('a 101 %s is 502', async (_, answer) => {
    const { client } = await startRig(
      serveOnce((peer) => void peer.write(answer)),
      { config: { retry: { retries: 0 } } },
    );
    const head = await (await client()).write(getHead('http://a.test/', ...upgrade)).head();
    expect(messageOf(head).status).toBe(502);
  });

  it('H39 a refused upgrade is an answer like any other', async () => {
    const { client } = await startRig(serveEach((peer) => void peer.answer('none', '404 Not Found')));
    const c = await client();
    for (let nth = 0; nth < 2; nth++) {
      const answer = await c.write(getHead('http://a.test/', ...upgrade)).answer();
      expect(answer.status).toBe(404);
      expect(answer.body.toString()).toBe('none');
    }
  });

  it.each(['reset', 'end'] as const)(
    'H39 a far side that does %s after the 101 ends the client too',
    async (how) => {
      const { client, upstream, gateway } = await startRig(serveOnce((peer) => void peer.write(switching)));
      const before = openSockets();
      const c = await client();
      await c.write(getHead('http://a.test/', ...upgrade)).head();
      (await upstream.peer(0))[how]();
      expect(await c.ended()).toBe(how === 'reset' ? 'reset' : 'fin');
      c.destroy();
      await gateway.event('exchange_ended', (event) => event.kind === 'upgrade');
      await socketsBackTo(before);
    },
  );

  it('H39 a client that resets while the target hangs frees both sides', async () => {
    const { client, upstream, gateway } = await startRig(serveOnce(() => undefined));
    const before = openSockets();
    const c = await client();
    c.write(getHead('http://a.test/', ...upgrade));
    await (await upstream.peer(0)).until('\r\n\r\n');
    c.reset();
    await upstream.idle();
    await socketsBackTo(before);
    expect(await gateway.event('exchange_ended')).toMatchObject({ end: 'client_gone' });
  });
});
