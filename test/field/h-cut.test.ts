/** Field cases of kind H: answers that end too early, too late or never, and broken ones. */
import { describe, expect, it } from 'vitest';
import { fieldsOf, type RawMessage } from '../support/raw-client.js';
import { connectHead, getHead, requestHead, startRig } from '../support/rig.js';
import { serveEach, type Script } from '../support/scripted-upstream.js';

const single = { config: { retry: { retries: 0 } } };

/** Writes these bytes on the first request, then ends so once they left. */
function cutAfter(bytes: string, how: 'fin' | 'rst'): Script {
  return async (peer) => {
    await peer.head();
    await new Promise((resolve) => peer.socket.write(Buffer.from(bytes, 'latin1'), resolve));
    if (how === 'fin') peer.end();
    else await peer.gone();
  };
}

function codeOf(answer: RawMessage): string {
  return (JSON.parse(answer.body.toString()) as { code: string }).code;
}

/** Its answer goes on as it comes, no rule looks at it before. */
const unseen = (): string => getHead('http://a.test/', 'X-Turnpike-Detect: off');

describe('H26 an answer that is cut is never passed off as whole', () => {
  const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const lengthHead = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n';
  const cuts: [string, string, string][] = [
    ['chunked, between chunks', chunkedHead, '3\r\nabc\r\n3\r\ndef\r\n'],
    ['chunked, inside a chunk', chunkedHead, '3\r\nabc\r\n5\r\nde'],
    ['chunked, before its last line', chunkedHead, '3\r\nabc\r\n0\r\n'],
    ['chunked, inside the trailers', chunkedHead, '3\r\nabc\r\n0\r\nX-A: b'],
    ['by length', lengthHead, '0123456789'],
  ];

  it.each(cuts)('%s, by FIN', async (_, head, body) => {
    const { client, upstream, gateway } = await startRig(cutAfter(head + body, 'fin'));
    const c = await client();
    c.write(unseen());
    await c.ended();
    expect(c.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(c.text).not.toMatch(/\r\n0\r\n(.+\r\n)*\r\n$/);
    expect(c.text).not.toContain('problem');
    expect(upstream.accepts).toBe(1);
    expect(await gateway.event('exchange_ended')).toMatchObject({ end: 'upstream_cut', attempts: 1 });
  });

  it.each(cuts)('%s, by FIN, while it is held for a look: then it is 502', async (_, head, body) => {
    const { client } = await startRig(cutAfter(head + body, 'fin'));
    const answer = await (await client()).write(getHead()).answer();
    expect([answer.status, codeOf(answer)]).toEqual([502, 'upstream_closed']);
    expect(answer.body.toString()).not.toMatch(/abc|0123/);
  });

  it.each(cuts)('%s, by RST', async (_, head, body) => {
    const { client, upstream, gateway } = await startRig(cutAfter(head + body, 'rst'));
    const c = await client();
    c.write(unseen());
    await c.until(body.slice(3, 6) === 'abc' ? 'abc' : '0123');
    (await upstream.peer(0)).reset();
    await c.ended();
    expect(c.text).not.toMatch(/\r\n0\r\n(.+\r\n)*\r\n$/);
    expect(c.text).not.toContain('problem');
    expect(upstream.accepts).toBe(1);
    expect(await gateway.event('exchange_ended')).toMatchObject({ end: 'upstream_cut', attempts: 1 });
  });

  it('by silence: the client connection is ended, not kept waiting', async () => {
    const { client, gateway } = await startRig(cutAfter(`${lengthHead}0123456789`, 'rst'), {
      config: { timeouts: { body_idle: '100ms' } },
    });
    const c = await client();
    c.write(unseen());
    await c.ended();
    expect(await gateway.event('exchange_ended')).toMatchObject({ end: 'timeout' });
  });

  it('before its head is whole it is 502, and a GET is tried again', async () => {
    const { client, upstream } = await startRig(
      async (peer, nth) => {
        await peer.head();
        if (nth > 0) return void peer.answer('page');
        peer.write('HTTP/1.1 200 OK\r\nContent-');
        peer.end();
      },
      { upstreams: ({ url, loginUrl }) => [url, loginUrl('other', 'x')] },
    );
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.body.toString()).toBe('page');
    expect(fieldsOf(answer.head, 'x-turnpike-attempts')).toEqual(['2']);
    expect(upstream.accepts).toBe(2);
  });

  it('before its head is whole it is 502 where there is no other exit', async () => {
    const { client } = await startRig(cutAfter('HTTP/1.1 200 OK\r\n', 'fin'), single);
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.status).toBe(502);
    expect(codeOf(answer)).toBe('upstream_closed');
  });
});

describe('H25 an answer that ends when the target closes', () => {
  it.each(['HTTP/1.0 200 OK\r\n\r\n', 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'])(
    'is chunked for a keep-alive client: %j',
    async (head) => {
      const { client } = await startRig(async (peer) => {
        await peer.head();
        peer.write(head).write('hello ').write('world');
        peer.end();
      });
      const c = await client();
      for (const nth of [1, 2]) {
        c.write(getHead());
        const text = await c.until('\r\n0\r\n\r\n');
        expect(text, `answer ${nth}`).toMatch(/^transfer-encoding: chunked\r$/im);
        expect(text.slice(text.indexOf('\r\n\r\n')).replace(/\r\n[0-9a-f]+\r\n/g, '')).toContain(
          'hello world',
        );
        c.take();
      }
    },
  );

  it('is close-delimited for a 1.0 client', async () => {
    const { client } = await startRig(cutAfter('HTTP/1.0 200 OK\r\n\r\nhello', 'fin'));
    const c = await client();
    c.write('GET http://a.test/ HTTP/1.0\r\n\r\n');
    expect(await c.ended()).toBe('fin');
    expect(c.text).toMatch(/\r\n\r\nhello$/);
    expect(fieldsOf(c.text, 'connection')).toEqual(['close']);
    expect(c.text).not.toMatch(/transfer-encoding/i);
  });

  it.each([
    ['1.1', 'GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n'],
    ['1.0', 'GET http://a.test/ HTTP/1.0\r\n\r\n'],
  ])('and is reset in the middle ends abnormally for a %s client', async (minor, head) => {
    const { client, upstream } = await startRig(cutAfter('HTTP/1.0 200 OK\r\n\r\nhello', 'rst'));
    const c = await client();
    c.write(head);
    await c.until('hello');
    (await upstream.peer(0)).reset();
    const ending = await c.ended();
    // Without chunks a FIN would say that the answer was whole.
    if (minor === '1.0') expect(ending).toBe('reset');
    expect(c.text).not.toContain('\r\n0\r\n\r\n');
  });
});

describe('H10 a status line that is none', () => {
  it.each([
    ['status 0', 'HTTP/1.0 0\r\nX-A: b\r\n\r\n'],
    ['status 1000', 'HTTP/1.1 1000 Odd\r\n\r\n'],
    ['status 99', 'HTTP/1.1 99 Low\r\n\r\n'],
    ['status abc', 'HTTP/1.1 abc\r\n\r\n'],
    ['no status', 'HTTP/1.1\r\n\r\n'],
    ['negative', 'HTTP/1.1 -200 OK\r\n\r\n'],
    ['HTTP/2', 'HTTP/2 200 OK\r\n\r\n'],
    ['HTTP/0.9', '<html>hello</html>'],
    [
      '20 KB of garbage',
      Buffer.from(Array.from({ length: 20_000 }, (_, i) => (i * 89) % 256)).toString('latin1'),
    ],
    ['an empty reply', ''],
    ['a blank line', '\r\n\r\n'],
    ['a 101 nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
    ['17 interim answers', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(17)],
  ])('%s is 502 with a cause, and the gateway goes on', async (_, bytes) => {
    const { client, upstream } = await startRig(cutAfter(bytes, 'fin'), single);
    const c = await client();
    c.write(getHead());
    const text = await c.until('"requestId"');
    expect(text).toContain('HTTP/1.1 502 ');
    expect(text).toMatch(/"code":"(target_failed|upstream_closed)"/);
    await upstream.idle();
    c.take();
    c.write(getHead('http://b.test/'));
    expect(await c.until('"requestId"')).toContain('HTTP/1.1 502 ');
  });
});

describe('H11 H08 H09 odd but readable answers', () => {
  it('H11 999 is passed on with reason and body', async () => {
    const { client } = await startRig(
      cutAfter('HTTP/1.1 999 Request denied\r\nContent-Length: 3\r\n\r\nno!', 'fin'),
    );
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.head).toMatch(/^HTTP\/1\.1 999 Request denied\r\n/);
    expect(answer.body.toString()).toBe('no!');
  });

  it.each([
    ['a name with spaces', 'Served with care : yes\r\n'],
    ['a blank before the colon', 'X-Blank : yes\r\n'],
    ['a trailing blank in a name', 'accept \r\n'],
    ['a line without colon', 'status code\r\n'],
    ['an empty name', ': nothing\r\n'],
    ['byte 0x01 in a value', 'X-Bad: a\x01b\r\n'],
    ['byte 0x00 in a value', 'X-Bad: a\x00b\r\n'],
    ['DEL in a value', 'X-Bad: a\x7fb\r\n'],
    ['a bare CR in a value', 'X-Bad: a\rb\r\n'],
    ['a folded line', 'X-Fold: a\r\n b\r\n'],
  ])('H08 H09 an answer with %s is served without the bad part', async (_, line) => {
    const { client, gateway } = await startRig(
      cutAfter(`HTTP/1.1 200 OK\r\nX-Before: 1\r\n${line}X-After: 2\r\nContent-Length: 2\r\n\r\nhi`, 'fin'),
    );
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.body.toString()).toBe('hi');
    expect(answer.head).toContain('X-Before: 1\r\n');
    expect(answer.head).toContain('X-After: 2\r\n');
    expect(answer.head.replace(/\r\n/g, '')).not.toMatch(/[\x00-\x08\x0a-\x1f\x7f]/);
    expect(answer.head).not.toMatch(/^[^:\r\n]*[ \t][^:\r\n]*:/m);
    expect(gateway.events.filter((event) => event.type === 'exit_banned')).toEqual([]);
  });

  it('H08 lines that end with LF alone are read, and written with CRLF', async () => {
    const { client } = await startRig(cutAfter('HTTP/1.1 200 OK\nX-A: b\nContent-Length: 2\n\nhi', 'fin'));
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.head).toContain('X-A: b\r\n');
    expect(answer.body.toString()).toBe('hi');
  });

  it.each(['\r\n', '\n', '\r\n\r\n'])(
    'H08 line ends before the answer are skipped, on CONNECT too: %j',
    async (before) => {
      const { client, upstream } = await startRig(
        serveEach((peer, { head }) => {
          const isTunnel = head.startsWith('CONNECT ');
          peer.write(`${before}HTTP/1.1 200 OK\r\n${isTunnel ? '' : 'Content-Length: 2\r\n'}\r\nhi`);
        }),
      );
      const c = await client();
      for (let nth = 0; nth < 2; nth++) {
        expect((await c.write(getHead()).answer()).body.toString()).toBe('hi');
      }
      // What came before might have belonged to something else.
      expect(upstream.accepts).toBe(2);
      const tunnel = (await client()).write(connectHead());
      expect(await tunnel.until('hi')).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nhi$/s);
    },
  );

  it('H08 Latin-1 in the reason goes on as it came', async () => {
    const { client } = await startRig(
      cutAfter('HTTP/1.1 200 Tr\xe8s bien\r\nX-Name: J\xfcrgen\r\nContent-Length: 0\r\n\r\n', 'fin'),
    );
    const head = await (await client()).write(getHead()).head();
    expect(head).toMatch(/^HTTP\/1\.1 200 Tr\xe8s bien\r\n/);
    expect(fieldsOf(head, 'x-name')).toEqual(['J\xfcrgen']);
  });

  it.each([
    'accept : x',
    'User Agent: x',
    'status code',
    'X-Bad: a\x01b',
    'X-Bad: a\x00b',
    ' folded: x',
    ': x',
  ])('H07 H09 a request with the line %j is 400 and close, and the next one is served', async (line) => {
    const { client, upstream } = await startRig(serveEach((peer) => void peer.answer('page')));
    const c = await client();
    const answer = await c.write(requestHead('GET http://a.test/', 'Host: a.test', line)).answer();
    expect(answer.status).toBe(400);
    expect(await c.ended()).toBe('fin');
    expect(upstream.accepts).toBe(0);
    expect((await (await client()).write(getHead()).answer()).status).toBe(200);
  });

  it('H07 a blank before the colon of Content-Length: request 400, answer mended', async () => {
    const { client, upstream } = await startRig(
      cutAfter('HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello', 'fin'),
    );
    const bad = requestHead('POST http://a.test/', 'Host: a.test', 'Content-Length : 5');
    expect((await (await client()).write(`${bad}hello`).answer()).status).toBe(400);
    expect(upstream.accepts).toBe(0);
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.head).toContain('\r\nContent-Length: 5\r\n');
    expect(answer.body.toString()).toBe('hello');
  });
});
