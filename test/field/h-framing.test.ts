/** Field cases of kind H: where a message ends, and who could read it in two ways. */
import { describe, expect, it } from 'vitest';
import { fieldsOf, messageOf, type RawMessage } from '../support/raw-client.js';
import { getHead, requestHead, startRig } from '../support/rig.js';
import { serveEach, type Script } from '../support/scripted-upstream.js';

const hidden = 'GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n';
const ok = serveEach((peer) => void peer.answer('page'));

/** An upstream that answers everything with these bytes. */
function always(answer: string, then: 'keep' | 'end' | 'reset' = 'keep'): Script {
  return serveEach((peer) => {
    peer.write(answer);
    if (then === 'end') peer.end();
    if (then === 'reset') peer.socket.write('', () => peer.reset());
  });
}

function codeOf(answer: RawMessage): string {
  return (JSON.parse(answer.body.toString()) as { code: string }).code;
}

describe('H01 Content-Length together with Transfer-Encoding', () => {
  it.each([
    ['length first', ['Content-Length: 5', 'Transfer-Encoding: chunked']],
    ['chunked first', ['Transfer-Encoding: chunked', 'Content-Length: 5']],
    ['odd case', ['content-length: 5', 'TRANSFER-ENCODING: Chunked']],
  ])('%s: 400 and close, and nothing reaches the upstream', async (_, fields) => {
    const { client, upstream } = await startRig(ok);
    const c = await client();
    const head = requestHead('POST http://a.test/', 'Host: a.test', ...fields);
    c.write(`${head}0\r\n\r\n${hidden}`);
    const answer = await c.answer();
    expect(answer.status).toBe(400);
    expect(codeOf(answer)).toBe('bad_request');
    expect(fieldsOf(answer.head, 'connection')).toEqual(['close']);
    expect(await c.ended()).toBe('fin');
    expect(c.text).toBe('');
    expect(upstream.accepts).toBe(0);
  });

  it.each([
    ['chunked twice', 'Transfer-Encoding: chunked, chunked', 400],
    ['chunked not last', 'Transfer-Encoding: chunked, gzip', 400],
    ['two lines', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', 400],
    ['a coding before', 'Transfer-Encoding: gzip, chunked', 501],
    ['an unknown one', 'Transfer-Encoding: xchunked', 501],
    ['a tab', 'Transfer-Encoding: \tchunked', 200],
    ['a vertical tab', 'Transfer-Encoding: \x0bchunked', 400],
    ['identity', 'Transfer-Encoding: identity', 501],
    ['quoted', 'Transfer-Encoding: "chunked"', 501],
  ])('Transfer-Encoding with %s', async (_, field, status) => {
    const { client, upstream } = await startRig(ok);
    const c = await client();
    c.write(`${requestHead('POST http://a.test/', 'Host: a.test', field)}0\r\n\r\n`);
    const answer = await c.answer();
    expect([status, status === 501 ? 400 : status]).toContain(answer.status);
    if (status !== 200) expect(upstream.accepts).toBe(0);
  });

  it('HTTP/1.0 with Transfer-Encoding is 400', async () => {
    const { client, upstream } = await startRig(ok);
    const c = await client();
    c.write('POST http://a.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n');
    expect((await c.answer()).status).toBe(400);
    expect(upstream.accepts).toBe(0);
  });

  it.each([
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked\r\nContent-Length: 5',
  ])('in an answer it is 502 and the connection is not used again: %j', async (fields) => {
    const { client, upstream } = await startRig(
      always(`HTTP/1.1 200 OK\r\n${fields}\r\n\r\n5\r\nhello\r\n0\r\n\r\n`),
      { config: { retry: { retries: 0 } } },
    );
    const c = await client();
    for (const nth of [1, 2]) {
      const answer = await c.write(getHead()).answer();
      expect(answer.status).toBe(502);
      expect(codeOf(answer)).toBe('target_failed');
      expect(upstream.accepts).toBe(nth);
    }
    await upstream.idle();
  });
});

describe('H02 Content-Length that contradicts itself or is no number', () => {
  const bad = [
    '+5',
    '-0',
    '5,6',
    '0x5',
    '5 5',
    '5;',
    '1e1',
    '',
    '18446744073709551621',
    '99999999999999999999',
  ];
  it.each(bad)('request with %j: 400 and close', async (value) => {
    const { client, upstream } = await startRig(ok);
    const c = await client();
    const head = requestHead('POST http://a.test/', 'Host: a.test', `Content-Length: ${value}`);
    const answer = await c.write(`${head}hello`).answer();
    expect(answer.status).toBe(400);
    expect(await c.ended()).toBe('fin');
    expect(upstream.accepts).toBe(0);
  });

  it.each(['5\r\nContent-Length: 6', '5\r\nContent-Length: 5'])(
    'request with two lines %j: 400',
    async (v) => {
      const { client, upstream } = await startRig(ok);
      const head = requestHead('POST http://a.test/', 'Host: a.test', `Content-Length: ${v}`);
      const answer = await (await client()).write(`${head}hello`).answer();
      expect(answer.status).toBe(400);
      expect(upstream.accepts).toBe(0);
    },
  );

  it.each([...bad, '5\r\nContent-Length: 6'])('answer with %j: 502, connection closed', async (value) => {
    const { client, upstream } = await startRig(
      always(`HTTP/1.1 200 OK\r\nContent-Length: ${value}\r\n\r\nhello`),
      { config: { retry: { retries: 0 } } },
    );
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.status).toBe(502);
    expect(codeOf(answer)).toBe('target_failed');
    await upstream.idle();
  });
});

describe('H04 the same Content-Length twice in an answer', () => {
  it.each(['5\r\nContent-Length: 5', '5, 5', '005'])('is served with one line: %j', async (value) => {
    const { client, gateway } = await startRig(
      always(`HTTP/1.1 200 OK\r\nContent-Length: ${value}\r\n\r\nhello`),
    );
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.body.toString()).toBe('hello');
    expect(fieldsOf(answer.head, 'content-length')).toEqual(['5']);
    expect(gateway.events.filter((event) => event.type === 'exit_banned')).toEqual([]);
  });
});

describe('H05 chunk sizes with blanks and extensions', () => {
  it.each(['5 \r\nhello\r\n', '5;a=b\r\nhello\r\n', '5 ; a = "x;y"\r\nhello\r\n', '0005\r\nhello\r\n'])(
    'are served, extensions dropped: %j',
    async (chunk) => {
      const { client, upstream } = await startRig(
        always(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`),
      );
      const c = await client();
      for (const nth of [1, 2]) {
        c.write(getHead());
        const text = await c.until('\r\n0\r\n\r\n');
        expect(text.slice(text.indexOf('\r\n\r\n') + 4), `answer ${nth}`).toBe('5\r\nhello\r\n0\r\n\r\n');
        c.take();
      }
      expect(upstream.accepts).toBe(1);
    },
  );

  it.each([
    ['-2\r\nhi\r\n0\r\n\r\n', 'target_failed'],
    [' 2\r\nhi\r\n0\r\n\r\n', 'target_failed'],
    [`2;${'a'.repeat(20_000)}\r\nhi\r\n0\r\n\r\n`, 'target_failed'],
  ])('H05 H26 %j from the start is 502 with a cause, not an empty reply', async (chunk, code) => {
    const { client, upstream, gateway } = await startRig(
      always(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`),
    );
    const c = await client();
    for (const looked of ['on', 'off']) {
      const answer = await c.write(getHead('http://a.test/', `X-Turnpike-Detect: ${looked}`)).answer();
      expect([answer.status, codeOf(answer)], `detection ${looked}`).toEqual([502, code]);
    }
    expect(upstream.accepts).toBe(2);
    expect(await gateway.event('exchange_ended')).toMatchObject({ status: 502, code, end: 'failed' });
    expect(gateway.events.filter((event) => event.type === 'exit_banned')).toEqual([]);
  });

  it('and one that is no number cuts the answer', async () => {
    const { client } = await startRig(
      always('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nxyz\r\n'),
    );
    const c = await client();
    c.write(getHead('http://a.test/', 'X-Turnpike-Detect: off'));
    await c.ended();
    expect(c.text).not.toContain('0\r\n\r\n');
  });
});

describe('H20 trailers', () => {
  const chunked =
    'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n';

  it('of an answer are passed on, and the connection is used again', async () => {
    const { client, upstream } = await startRig(always(`${chunked}X-Sum: 1\r\nX-Other: b\r\n\r\n`));
    const c = await client();
    for (const nth of [1, 2]) {
      c.write(getHead());
      const text = await c.until('X-Other: b\r\n\r\n');
      expect(text, `answer ${nth}`).toContain('5\r\nhello\r\n0\r\nX-Sum: 1\r\nX-Other: b\r\n\r\n');
      c.take();
    }
    expect(upstream.accepts).toBe(1);
  });

  it('that would change the message are dropped', async () => {
    const { client } = await startRig(
      always(`${chunked}Content-Length: 9\r\nSet-Cookie: a=b\r\nConnection: close\r\nX-Sum: 1\r\n\r\n`),
    );
    const c = await client();
    c.write(getHead());
    expect(await c.until('X-Sum: 1\r\n\r\n')).toContain('0\r\nX-Sum: 1\r\n\r\n');
  });

  it('announced on an answer with a length are none', async () => {
    const { client } = await startRig(
      always('HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nContent-Length: 5\r\n\r\nhello'),
    );
    const answer = await (await client()).write(getHead()).answer();
    expect(answer.body.toString()).toBe('hello');
    expect(fieldsOf(answer.head, 'trailer')).toEqual([]);
  });

  it('of a request are dropped, its body intact', async () => {
    const { client, upstream } = await startRig(async (peer) => {
      await peer.until('0\r\n\r\n');
      peer.answer('got it');
    });
    const head = requestHead('POST http://a.test/', 'Host: a.test', 'Transfer-Encoding: chunked');
    const c = await client();
    expect((await c.write(`${head}5\r\nhello\r\n0\r\nX-T: 1\r\n\r\n`).answer()).body.toString()).toBe(
      'got it',
    );
    expect((await upstream.peer(0)).text).toMatch(/\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/);
  });
});

describe('H23 no body where none may be', () => {
  it.each([
    ['204 with chunked', '204 No Content', 'Transfer-Encoding: chunked'],
    ['304 with a length', '304 Not Modified', 'Content-Length: 77'],
    ['204 with a length', '204 No Content', 'Content-Length: 5'],
    ['204 with nothing', '204 No Content', 'X-A: b'],
  ])('%s ends at the blank line', async (_, status, field) => {
    const { client, upstream } = await startRig(always(`HTTP/1.1 ${status}\r\n${field}\r\n\r\n`));
    const c = await client();
    for (const nth of [1, 2]) {
      c.write(getHead());
      const head = await c.head();
      expect(messageOf(head).status, `answer ${nth}`).toBe(Number(status.slice(0, 3)));
      expect(fieldsOf(head, 'transfer-encoding')).toEqual([]);
      // Of a 304 it is that of the page (RFC 9110, section 8.6).
      if (status.startsWith('204')) expect(fieldsOf(head, 'content-length')).toEqual([]);
      expect(c.take()).toBe(head);
    }
    expect(upstream.accepts).toBe(1);
  });

  it('nor behind the answer to HEAD, whatever its length says', async () => {
    const { client, upstream } = await startRig(always('HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n'));
    const c = await client();
    for (const nth of [1, 2]) {
      c.write(requestHead('HEAD http://a.test/', 'Host: a.test'));
      const head = await c.head();
      expect(fieldsOf(head, 'content-length'), `answer ${nth}`).toEqual(['77']);
      expect(c.take()).toBe(head);
    }
    expect(upstream.accepts).toBe(1);
  });
});
