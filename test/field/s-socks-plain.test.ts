/** SOCKS upstreams: what their replies mean, and plain requests through them. */
import { describe, expect, it } from 'vitest';
import { answerOf } from '../support/ask.js';
import { fieldsOf } from '../support/raw-client.js';
import { connectHead, getHead, login, startRig } from '../support/rig.js';
import { serveEach } from '../support/scripted-upstream.js';
import { refusal5 } from '../support/scripted-socks.js';
import { page, startSocks } from '../support/socks-rig.js';

describe('every reply has its own cause', () => {
  it.each<[number, string, number]>([
    [1, 'upstream_error', 502],
    [2, 'upstream_error', 502],
    [3, 'target_unreachable', 502],
    [4, 'target_unreachable', 502],
    [5, 'target_unreachable', 502],
    [6, 'target_timeout', 504],
    [7, 'upstream_protocol', 502],
    [8, 'upstream_protocol', 502],
  ])('SOCKS5 reply %i is %s', async (reply, code, status) => {
    const { client } = await startSocks(page, { answers: { reply: refusal5(reply) } });
    for (const head of [connectHead(), getHead()]) {
      const answer = answerOf(await (await client()).write(head).answer());
      expect(answer.problem()).toMatchObject({ code, status });
      expect(answer.problem().detail).toContain(`SOCKS5 reply ${reply}`);
    }
  });

  it.each([
    [91, 'upstream_error'],
    [92, 'upstream_auth'],
    [93, 'upstream_auth'],
  ])('SOCKS4 reply %i is %s', async (reply, code) => {
    const answers = { reply: Buffer.of(0, reply, 0, 0, 0, 0, 0, 0) };
    const { client } = await startSocks(page, { protocol: 'socks4', answers });
    const answer = answerOf(await (await client()).write(connectHead()).answer());
    expect(answer.problem()).toMatchObject({ code });
    expect(answer.problem().detail).toContain(`SOCKS4 reply ${reply}`);
  });

  it('an HTTP proxy under a SOCKS URL is told apart', async () => {
    const { client } = await startRig(
      async (peer) => {
        await peer.bytes(3);
        peer.write('HTTP/1.1 400 Bad Request\r\n\r\n');
      },
      { upstreams: ({ port }) => [`socks5://127.0.0.1:${port}`] },
    );
    const answer = answerOf(await (await client()).write(connectHead()).answer());
    expect(answer.problem()).toMatchObject({ code: 'upstream_protocol' });
    expect(answer.problem().detail).toContain('may be an HTTP proxy');
  });
});

describe('G6 A09 plain requests through SOCKS are the target’s own', () => {
  it('in origin-form with Host, without any login for proxies, the rest as it came', async () => {
    const heads: string[] = [];
    const inner = serveEach((peer, { head }) => {
      heads.push(head);
      peer.answer('page');
    });
    const { client } = await startSocks(inner, {
      userinfo: 'u:p@',
      config: { clients: [{ name: 'crawler', password: 'tok3n' }] },
    });
    const fields = [login('crawler', 'tok3n'), 'X-Odd: 1', 'x-odd: 2', 'X-Session-Id: s', 'Authorization: a'];
    await (await client()).write(getHead('http://a.test:8080/x?y=1', ...fields)).answer();
    expect(heads).toEqual([
      'GET /x?y=1 HTTP/1.1\r\nHost: a.test:8080\r\nX-Odd: 1\r\nx-odd: 2\r\nAuthorization: a\r\n\r\n',
    ]);
  });

  it('A17 connections are kept for one target and one session', async () => {
    const { asked, client, gateway } = await startSocks(page);
    const c = await client();
    for (let nth = 0; nth < 12; nth++) {
      const field = nth % 2 === 0 ? [] : ['X-Session-Id: s'];
      await c.write(getHead(`http://${nth % 3 === 0 ? 'a' : 'b'}.test/`, ...field)).answer();
    }
    expect(asked.map(({ host }) => host).sort()).toEqual(['a.test', 'a.test', 'b.test', 'b.test']);
    expect(
      gateway.events.filter((event) => event.type === 'upstream_connection' && event.what === 'reused'),
    ).toHaveLength(8);
  });

  it('a kept connection that is stale is replaced by a handshake of its own', async () => {
    const { asked, client } = await startSocks(async (peer) => {
      await peer.request();
      peer.answer('page');
      peer.reset();
    });
    const c = await client();
    for (let nth = 0; nth < 3; nth++) {
      expect((await c.write(getHead()).answer()).body.toString()).toBe('page');
    }
    expect(asked).toHaveLength(3);
  });

  it('a 407 of the target neither reaches the client nor bans the exit', async () => {
    const inner = serveEach((peer) => {
      peer.answer('', '407 Give me', ['Proxy-Authenticate: Basic realm="x"']);
    });
    const { client, gateway } = await startSocks(inner);
    for (let nth = 0; nth < 4; nth++) {
      const answer = answerOf(await (await client()).write(getHead(`http://s${nth}.test/`)).answer());
      expect(answer.status).toBe(502);
      expect(fieldsOf(answer.head, 'proxy-authenticate')).toEqual([]);
      expect(answer.problem()).toMatchObject({ code: 'target_failed', blame: 'target' });
    }
    expect(gateway.events.filter(({ type }) => type === 'exit_banned')).toEqual([]);
  });

  it('upgrades go through, glued bytes too', async () => {
    const { client } = await startSocks(async (peer) => {
      const head = await peer.head();
      expect(head).toMatch(/^GET \/ws HTTP\/1\.1\r\n/);
      peer.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst');
      peer.echo();
    });
    const c = await client();
    c.write(getHead('http://a.test/ws', 'Connection: Upgrade', 'Upgrade: websocket'));
    await c.until('first');
    c.write('more');
    expect(await c.until('firstmore')).toContain('101 Switching');
  });
});
