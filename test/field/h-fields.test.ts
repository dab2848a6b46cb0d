/** Field cases of kind H: which fields travel, how they look, and who the target is. */
import { describe, expect, it } from 'vitest';
import { fieldsOf, type RawMessage } from '../support/raw-client.js';
import { getHead, login, requestHead, startRig } from '../support/rig.js';
import { serveEach, type Script } from '../support/scripted-upstream.js';

const page = serveEach((peer) => void peer.answer('page'));

/** An upstream that answers with these field lines. */
function answering(...fields: string[]): Script {
  return serveEach((peer) => void peer.answer('page', '200 OK', fields));
}

/** The field lines of a head, without the start line and our own. */
function linesOf(head: string): string[] {
  const lines = head.split('\r\n').slice(1, -2);
  return lines.filter((line) => !/^x-turnpike-/i.test(line));
}

function codeOf(answer: RawMessage): string {
  return (JSON.parse(answer.body.toString()) as { code: string }).code;
}

describe('H12 H14 repeated fields', () => {
  const cookies = [
    'Set-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/',
    'Set-Cookie: b=2',
    'set-cookie: c="x, y"',
  ];
  it('H12 three Set-Cookie lines stay three, in order, as they came', async () => {
    const { client } = await startRig(answering(...cookies));
    const answer = await (await client()).write(getHead()).answer();
    expect(linesOf(answer.head).slice(0, 3)).toEqual(cookies);
  });

  it('H12 the same over HTTP/1.0, chunked, and in an error answer', async () => {
    const lines = cookies.join('\r\n');
    const { client } = await startRig(
      serveEach((peer, { head }) => {
        const status = head.includes('/gone') ? '410 Gone' : '200 OK';
        peer.write(
          `HTTP/1.1 ${status}\r\n${lines}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
        );
      }),
    );
    for (const url of ['http://a.test/', 'http://a.test/gone']) {
      const c = await client();
      c.write(`GET ${url} HTTP/1.0\r\n\r\n`);
      expect(linesOf(await c.head()).slice(0, 3)).toEqual(cookies);
    }
  });

  const repeated = [
    'Link: <a>',
    'WWW-Authenticate: Basic realm="a"',
    'X-A: 1',
    'Link: <b>',
    'X-A: 2',
    'x-a: 3',
  ];
  it('H14 lines of an answer keep number and order', async () => {
    const all = [...repeated, 'WWW-Authenticate: Negotiate', 'Via: 1.1 x', 'Via: 1.1 y'];
    const { client } = await startRig(answering(...all));
    const answer = await (await client()).write(getHead()).answer();
    expect(linesOf(answer.head).slice(0, all.length)).toEqual(all);
  });

  it('H14 lines of a request keep number and order', async () => {
    const all = [
      ...repeated,
      'Authorization: Basic YTpi',
      'Authorization: Bearer x',
      'Cookie: a=1',
      'Cookie: b=2',
    ];
    const { client, upstream } = await startRig(page);
    await (await client()).write(requestHead('GET http://a.test/', 'Host: a.test', ...all)).answer();
    expect(linesOf(upstream.heads[0] ?? '')).toEqual(['Host: a.test', ...all]);
  });

  it.each([
    ['two session ids', ['X-Session-Id: a', 'X-Session-Id: b']],
    ['the same session id twice', ['X-Session-Id: a', 'x-session-id: a']],
    ['two logins', [login('a', 'b'), login('a', 'b')]],
  ])('H14 %s are refused, not joined', async (_, fields) => {
    const { client, upstream } = await startRig(page);
    const answer = await (await client()).write(getHead('http://a.test/', ...fields)).answer();
    expect([400, 407]).toContain(answer.status);
    expect(upstream.accepts).toBe(0);
  });
});

describe('H13 order and case', () => {
  const browser = [
    'Host: a.test',
    'sec-ch-ua: "Chromium";v="1"',
    'User-Agent: Mozilla/5.0',
    'Accept: */*',
    'sec-fetch-Site: none',
    'ACCEPT-LANGUAGE: de',
    'x-lower: 1',
  ];
  it('of a request are kept, Host in its place', async () => {
    const { client, upstream } = await startRig(page);
    const moved = [...browser.slice(1, 4), 'hOST: a.test', ...browser.slice(4)];
    for (const lines of [browser, moved]) {
      await (await client()).write(requestHead('GET http://a.test/', ...lines)).answer();
      expect(linesOf(upstream.heads.at(-1) ?? '')).toEqual(lines);
    }
  });

  it('are kept round what is removed', async () => {
    const { client, upstream } = await startRig(page);
    const lines = [
      ...browser.slice(0, 3),
      'Proxy-Connection: keep-alive',
      'X-Session-Id: s',
      ...browser.slice(3),
    ];
    await (await client()).write(requestHead('GET http://a.test/', ...lines)).answer();
    expect(linesOf(upstream.heads[0] ?? '')).toEqual(browser);
  });

  it('of an answer are kept', async () => {
    const lines = ['server: x', 'X-UPPER: 1', 'x-lower: 2', 'Content-type: text/html'];
    const { client } = await startRig(answering(...lines));
    const answer = await (await client()).write(getHead()).answer();
    expect(linesOf(answer.head)).toEqual([...lines, 'Content-Length: 4']);
  });
});

describe('H15 one line per singleton field', () => {
  it.each(['content-length: 5', 'CONTENT-LENGTH: 5', 'Content-Length:5'])(
    '%j goes on once',
    async (field) => {
      const { client, upstream } = await startRig(page);
      const head = requestHead('POST http://a.test/', 'hOsT: b.test', field, 'X-After: 1');
      await (await client()).write(`${head}hello`).answer();
      const sent = upstream.heads[0] ?? '';
      expect(fieldsOf(sent, 'content-length')).toEqual(['5']);
      expect(fieldsOf(sent, 'host')).toEqual(['a.test']);
      expect((await upstream.peer(0)).text.endsWith('\r\n\r\nhello')).toBe(true);
    },
  );

  it('of an answer too', async () => {
    const { client } = await startRig(
      serveEach((peer) => void peer.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nX-A: b\r\n\r\nhi')),
    );
    const answer = await (await client()).write(getHead()).answer();
    expect(linesOf(answer.head)).toEqual(['content-length: 2', 'X-A: b']);
  });
});

describe('H27 hop-by-hop fields stay on their hop', () => {
  const hop = [
    'Connection: close, X-Secret',
    'X-Secret: 1',
    'Keep-Alive: timeout=5',
    'Proxy-Connection: keep-alive',
    'TE: trailers',
    'Upgrade: h2c',
    'Trailer: X-T',
    'HTTP2-Settings: AAMAAABk',
    'Proxy-Authenticate: Basic realm="x"',
    'Proxy-Authentication-Info: x',
  ];
  const secret = /secret|keep-alive|proxy-connection|^te:|upgrade|trailer|http2-settings|proxy-auth/im;

  it('in requests', async () => {
    const { client, upstream } = await startRig(page);
    const c = await client();
    const answer = await c.write(getHead('http://a.test/', ...hop, 'X-Kept: 1')).answer();
    expect(upstream.heads[0]).not.toMatch(secret);
    expect(upstream.heads[0]).not.toMatch(/^connection:/im);
    expect(fieldsOf(upstream.heads[0] ?? '', 'x-kept')).toEqual(['1']);
    expect(fieldsOf(answer.head, 'connection')).toEqual(['close']);
    expect(await c.ended()).toBe('fin');
  });

  it('in answers', async () => {
    const { client, upstream } = await startRig(answering(...hop, 'X-Kept: 1'));
    const c = await client();
    for (const nth of [1, 2]) {
      const answer = await c.write(getHead()).answer();
      expect(answer.head).not.toMatch(secret);
      expect(answer.head).not.toMatch(/^connection:/im);
      expect(fieldsOf(answer.head, 'x-kept')).toEqual(['1']);
      // The target's close ends its own connection, not the client's.
      expect(upstream.accepts).toBe(nth);
    }
  });

  it('in interim answers', async () => {
    const { client } = await startRig(
      serveEach((peer) => {
        peer.write(`HTTP/1.1 103 Early Hints\r\n${hop.join('\r\n')}\r\nLink: <a>\r\n\r\n`);
        peer.answer('page');
      }),
    );
    const c = await client();
    const head = await c.write(getHead()).head();
    expect(linesOf(head)).toEqual(['Link: <a>']);
  });

  it.each(['Host', 'Content-Length', 'Transfer-Encoding', 'Proxy-Authorization', 'X-Turnpike-Pool'])(
    'a request can not have %s removed by naming it in Connection',
    async (name) => {
      const { client, upstream } = await startRig(page);
      const answer = await (await client()).write(getHead('http://a.test/', `Connection: ${name}`)).answer();
      expect(answer.status).toBe(400);
      expect(upstream.accepts).toBe(0);
    },
  );

  it('the client is kept when the upstream closes, and the upstream when the client closes', async () => {
    const { client, upstream } = await startRig(page);
    const first = await client();
    await first.write(getHead('http://a.test/', 'Connection: close')).answer();
    await first.ended();
    const second = await client();
    await second.write(getHead()).answer();
    expect(upstream.accepts).toBe(1);
  });
});

describe('H29 H30 H31 H32 the target wins', () => {
  it.each([
    ['a different Host', 'http://a.test/', 'b.test', 'a.test'],
    ['a different port', 'http://a.test/', 'a.test:81', 'a.test'],
    ['H30 a port that is not the default', 'http://a.test:8080/', 'a.test', 'a.test:8080'],
    ['H31 no default port is added', 'http://a.test/', 'a.test:80', 'a.test'],
    ['H31 a default port that was written', 'http://a.test:80/', 'a.test', 'a.test'],
    ['upper case', 'http://A.Test/', 'A.Test', 'a.test'],
    ['brackets', 'http://[2606:4700::1111]:8080/', 'x', '[2606:4700::1111]:8080'],
  ])('H29 %s', async (_, url, host, expected) => {
    const { client, upstream, gateway } = await startRig(page);
    await (await client()).write(requestHead(`GET ${url}`, `Host: ${host}`)).answer();
    const head = upstream.heads[0] ?? '';
    expect(fieldsOf(head, 'host')).toEqual([expected]);
    expect(head).toMatch(new RegExp(`^GET http://${expected.replace(/[[\].]/g, '\\$&')}/ HTTP/1\\.1\\r\\n`));
    const ended = await gateway.event('exchange_ended');
    expect(ended.target.startsWith(expected.replace(/:\d+$/, ''))).toBe(true);
  });

  it.each([
    ['two Host lines', ['Host: a.test', 'Host: b.test']],
    ['the same Host twice', ['Host: a.test', 'host: a.test']],
    ['an empty Host', ['Host:']],
    ['a blank Host', ['Host:  ']],
    ['no Host', []],
    ['a list as Host', ['Host: a.test, b.test']],
    ['a Host with userinfo', ['Host: u@a.test']],
    ['a Host with a path', ['Host: a.test/x']],
    ['a Host with a bad port', ['Host: a.test:99999']],
  ])('H29 %s is 400', async (_, fields) => {
    const { client, upstream } = await startRig(page);
    const answer = await (await client()).write(requestHead('GET http://a.test/', ...fields)).answer();
    expect(answer.status).toBe(400);
    expect(upstream.accepts).toBe(0);
  });

  it('H29 the policy looks at the target, whatever Host says', async () => {
    const { client, upstream } = await startRig(page, { config: { targets: { allow: [] } } });
    const c = await client();
    const inner = await c.write(requestHead('GET http://127.0.0.1/', 'Host: a.test')).answer();
    expect(inner.status).toBe(403);
    const outer = await c.write(requestHead('GET http://a.test/', 'Host: 127.0.0.1')).answer();
    expect(outer.status).toBe(200);
    expect(upstream.heads).toHaveLength(1);
  });

  it.each(['bob:s3cret@', 'bob@', ':s3cret@', '@', 'bob:s3%63ret@'])(
    'H32 userinfo %j is 400, sent nowhere and written nowhere',
    async (userinfo) => {
      const { client, upstream, gateway } = await startRig(page);
      const answer = await (
        await client()
      )
        .write(requestHead(`GET http://${userinfo}a.test/x`, 'Host: a.test'))
        .answer();
      expect(answer.status).toBe(400);
      expect(codeOf(answer)).toBe('bad_request');
      expect(upstream.accepts).toBe(0);
      await gateway.event('exchange_ended');
      expect(JSON.stringify(gateway.events) + answer.head + answer.body.toString()).not.toMatch(/s3|bob/);
    },
  );
});
