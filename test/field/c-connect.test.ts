/** Field cases of kind C: a CONNECT that works, byte by byte. */
import { describe, expect, it } from 'vitest';
import { fieldsOf, messageOf } from '../support/raw-client.js';
import { connectHead, startRig } from '../support/rig.js';
import { echoTunnel } from '../support/scripted-upstream.js';
import { waitFor } from '../support/wait.js';

describe('C01 bytes behind the CONNECT head', () => {
  it('sent in the same segment reach the far side, in order', async () => {
    const { client, upstream } = await startRig(echoTunnel);
    const c = await client();
    c.write(`${connectHead()}hello`);
    const text = await c.until('hello');
    expect(text).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nhello$/);
    expect((await upstream.peer(0)).text.endsWith('\r\n\r\nhello')).toBe(true);
  });

  it('sent while the upstream is still asked are held and come before later ones', async () => {
    const { client, upstream } = await startRig(async (peer) => {
      await peer.head();
      await allSent;
      peer.write('HTTP/1.1 200 OK\r\n\r\n');
      peer.echo();
    });
    let tellSent = (): void => undefined;
    const allSent = new Promise<void>((resolve) => (tellSent = resolve));
    const c = await client();
    c.write(connectHead());
    await (await upstream.peer(0)).until('\r\n\r\n');
    await c.writeSlowly('hello');
    expect(c.text).toBe('');
    tellSent();
    await c.head();
    c.write(' again');
    expect(await c.until('hello again')).toMatch(/\r\n\r\nhello again$/);
  });

  it('are held without limit of time but with one of size, and all arrive', async () => {
    const early = Buffer.alloc(1_000_000, 'abcdefghij');
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const { client, upstream } = await startRig(async (peer) => {
      await peer.head();
      await opened;
      peer.write('HTTP/1.1 200 OK\r\n\r\n');
    });
    const c = await client();
    c.write(connectHead());
    c.write(early);
    const peer = await upstream.peer(0);
    await peer.until('\r\n\r\n');
    open();
    await waitFor('all early bytes', () => peer.rest.length === early.length);
    expect(peer.rest).toBe(early.toString('latin1'));
  });
});

describe('C02 an answer to CONNECT in pieces', () => {
  it.each([
    ['one byte per write', 'HTTP/1.1 200 Connection established\r\nX-A: b\r\n\r\n'],
    ['with a long field', `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(3000)}\r\n\r\n`],
  ])('%s opens the tunnel and leaves nothing of itself in it', async (_, answer) => {
    const { client } = await startRig(async (peer) => {
      await peer.head();
      await peer.writeSlowly(answer);
      peer.echo();
    });
    const c = await client();
    c.write(connectHead());
    const head = await c.head();
    expect(messageOf(head).status).toBe(200);
    c.write('ping');
    expect(await c.until('ping')).toBe(`${head}ping`);
  });

  it('waits for the last CRLF', async () => {
    let isComplete = false;
    const { client, upstream } = await startRig(async (peer) => {
      await peer.head();
      peer.write('HTTP/1.1 200 OK\r\nX-A: b\r\n');
      await waitFor('the test', () => isComplete);
      peer.write('\r\n');
      peer.echo();
    });
    const c = await client();
    c.write(`${connectHead()}early`);
    await (await upstream.peer(0)).until('\r\n\r\n');
    isComplete = true;
    expect(await c.until('early')).toMatch(/^HTTP\/1\.1 200[^]*\r\n\r\nearly$/);
  });
});

describe('C03 bytes glued behind the 200', () => {
  it.each([
    ['6 bytes', '220 hi'],
    ['64 KiB', 'x'.repeat(65_536)],
  ])('reach the client behind its own 200: %s', async (_, glued) => {
    const { client } = await startRig(async (peer) => {
      await peer.head();
      peer.write(`HTTP/1.1 200 OK\r\n\r\n${glued}`);
    });
    const c = await client();
    c.write(connectHead());
    const head = await c.head();
    const whole = await c.untilBytes(head.length + glued.length);
    expect(whole.subarray(head.length).toString()).toBe(glued);
  });
});

describe('C08 framing fields on a 2xx to CONNECT', () => {
  it('the gateway sends none', async () => {
    const { client } = await startRig(echoTunnel);
    const c = await client();
    c.write(connectHead());
    const head = await c.head();
    expect(fieldsOf(head, 'content-length')).toEqual([]);
    expect(fieldsOf(head, 'transfer-encoding')).toEqual([]);
    expect(fieldsOf(head, 'connection')).toEqual([]);
  });

  it.each([
    'Content-Length: 0',
    'Content-Length: 5',
    'Transfer-Encoding: chunked',
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Content-Length: 5\r\nContent-Length: 6',
    'Content-Length: x',
    'Connection: close',
  ])('an upstream that sends %j has opened the tunnel all the same', async (field) => {
    const { client } = await startRig(async (peer) => {
      await peer.head();
      peer.write(`HTTP/1.1 200 OK\r\n${field}\r\n\r\nhi`);
      peer.echo();
    });
    const c = await client();
    c.write(connectHead());
    const head = await c.head();
    expect(messageOf(head).status).toBe(200);
    expect(head).not.toMatch(/content-length|transfer-encoding/i);
    c.write('ping');
    expect(await c.until('ping')).toBe(`${head}hiping`);
  });

  it.each(['201 Created', '204 No Content', '299 Odd'])('any 2xx opens it: %s', async (status) => {
    const { client } = await startRig(async (peer) => {
      await peer.head();
      peer.write(`HTTP/1.1 ${status}\r\n\r\n`);
      peer.echo();
    });
    const c = await client();
    c.write(`${connectHead()}ping`);
    expect(await c.until('ping')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('an interim answer before it is no answer', async () => {
    const { client } = await startRig(async (peer) => {
      await peer.head();
      peer.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi');
    });
    const c = await client();
    c.write(connectHead());
    expect(await c.until('hi')).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nhi$/);
  });
});

describe('C10 what the upstream gets', () => {
  /** Without the mark by which gateways of our kind find loops. */
  const withoutMark = (head: string | undefined): string =>
    (head ?? '').replace(/X-Turnpike-Loop: .*\r\n/, '');

  it('is target and Host alike, with port, and no Connection: close', async () => {
    const { client, upstream } = await startRig(echoTunnel);
    const c = await client();
    c.write(connectHead('a.test:443', 'Proxy-Connection: keep-alive', 'User-Agent: x', 'Connection: close'));
    await c.head();
    expect(upstream.heads.map(withoutMark)).toEqual([
      'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n',
    ]);
  });

  it('keeps a port that is a default of some scheme, and brackets', async () => {
    const { client, upstream } = await startRig(echoTunnel);
    for (const authority of ['a.test:80', '[2606:4700::1111]:443']) {
      const c = await client();
      c.write(connectHead(authority));
      await c.head();
      expect(withoutMark(upstream.heads.at(-1))).toBe(
        `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`,
      );
    }
  });
});

describe('C24 the far side ends', () => {
  it('its last bytes are delivered, then FIN, and both sides close', async () => {
    const { client, upstream, gateway } = await startRig(async (peer) => {
      await peer.openTunnel();
      peer.write('0123456789');
      peer.end();
    });
    const c = await client();
    c.write(connectHead());
    expect(await c.ended()).toBe('fin');
    expect(c.text).toMatch(/\r\n\r\n0123456789$/);
    c.end();
    await c.closed();
    await upstream.idle();
    expect(await gateway.event('exchange_ended')).toMatchObject({ end: 'complete', bytesOut: 10 });
  });

  it('and a client that does not end is closed after the half-close limit', async () => {
    const { client, upstream } = await startRig(
      async (peer) => {
        await peer.openTunnel();
        peer.write('0123456789');
        peer.end();
      },
      { config: { timeouts: { half_close: '100ms' } } },
    );
    const c = await client();
    c.write(connectHead());
    await c.ended();
    await upstream.idle();
    // A FIN alone would leave the socket half-open: writing into it must fail.
    await waitFor('the client to notice', () => {
      c.write('x');
      return c.socket.destroyed;
    });
  });
});
