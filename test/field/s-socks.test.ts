/** Field cases of kind S: SOCKS upstreams. */
import { describe, expect, it } from 'vitest';
import { fieldsOf } from '../support/raw-client.js';
import { startGateway } from '../support/gateway.js';
import { connectHead, getHead, login, startRig, type Rig, type RigOptions } from '../support/rig.js';
import { serveEach, type Script } from '../support/scripted-upstream.js';
import {
  answerSocks,
  bound,
  refusal5,
  socksServer,
  type SocksAnswers,
  type SocksAsked,
} from '../support/scripted-socks.js';
import { answerOf } from '../support/ask.js';

/** Plays the target of plain requests, and an echo for whatever is no HTTP. */
const page = serveEach((peer) => {
  peer.answer('page');
});

const versions = ['socks5h', 'socks5', 'socks4a', 'socks4'] as const;

interface SocksRig extends Rig {
  readonly asked: SocksAsked[];
  /** Names that the gateway looked up. */
  readonly lookedUp: string[];
}

/** A gateway in front of one scripted SOCKS server. `userinfo` ends with its `@`. */
async function startSocks(
  inner: Script,
  more: { protocol?: string; userinfo?: string; answers?: SocksAnswers; config?: RigOptions['config'] } = {},
): Promise<SocksRig> {
  const asked: SocksAsked[] = [];
  const lookedUp: string[] = [];
  const { protocol = 'socks5h', userinfo = '', answers = {}, config = {} } = more;
  const rig = await startRig(socksServer(asked, inner, answers), {
    upstreams: ({ port }) => [`${protocol}://${userinfo}127.0.0.1:${port}`],
    config,
    parts: {
      lookUp: (host) => {
        lookedUp.push(host);
        return Promise.reject(new Error('nobody should look up anything'));
      },
    },
  });
  return { ...rig, asked, lookedUp };
}

const echo: Script = (peer) => peer.echo();

describe('S01 names are the upstream’s to resolve', () => {
  it.each(versions)('%s: a name goes out as a name, on CONNECT and GET', async (protocol) => {
    const { asked, lookedUp, client } = await startSocks(page, { protocol });
    await (await client()).write(connectHead('only-remote.test:443')).head();
    await (await client()).write(getHead('http://only-remote.test:8080/')).answer();
    expect(asked.map(({ type, host, port }) => [type, host, port])).toEqual([
      [3, 'only-remote.test', 443],
      [3, 'only-remote.test', 8080],
    ]);
    expect(lookedUp).toEqual([]);
  });

  it('addresses go out as addresses', async () => {
    const { asked, client } = await startSocks(echo, { config: { targets: { allow: ['::1/128'] } } });
    await (await client()).write(connectHead('93.184.216.34:443')).head();
    await (await client()).write(connectHead('[2606:4700::1]:443')).head();
    expect(asked.map(({ type, host }) => [type, host])).toEqual([
      [1, '93.184.216.34'],
      [4, '26064700000000000000000000000001'],
    ]);
  });

  it('SOCKS4 says that it has no IPv6, without blaming the exit', async () => {
    const { gateway, upstream, client } = await startSocks(echo, { protocol: 'socks4' });
    for (let nth = 0; nth < 6; nth++) {
      const answer = answerOf(await (await client()).write(connectHead('[2606:4700::1]:443')).answer());
      expect(answer.status).toBe(502);
      expect(answer.problem()).toMatchObject({ code: 'upstream_error' });
      expect(answer.problem().detail).toContain('SOCKS4 has no IPv6');
    }
    expect(upstream.accepts).toBe(0);
    expect(gateway.events.filter(({ type }) => type === 'exit_banned')).toEqual([]);
  });
});

describe('S03 S04 A04 A05 logins', () => {
  it.each([
    ['S03 a user of 200 bytes', 'u'.repeat(200), 'p'],
    ['S03 user and password of 255 bytes', 'ü'.repeat(127) + 'x', 'p'.repeat(255)],
    ['S04 an empty password', 'u', ''],
    ['A04 letters beyond ASCII', 'jürgen', 'pässwörd!~'],
    ['A05 an at sign', 'me@corp', 'pw'],
  ])('%s arrives as it is, on GET and CONNECT alike', async (_, username, password) => {
    const userinfo = `${encodeURIComponent(username)}:${encodeURIComponent(password)}@`;
    const { asked, client } = await startSocks(page, { protocol: 'socks5', userinfo });
    await (await client()).write(getHead()).answer();
    await (await client()).write(connectHead()).head();
    expect(asked.map((each) => [each.username, each.password])).toEqual(Array(2).fill([username, password]));
  });

  it('SOCKS4 tells its user', async () => {
    const { asked, client } = await startSocks(page, { protocol: 'socks4a', userinfo: 'me%40corp@' });
    await (await client()).write(connectHead()).head();
    expect(asked.map(({ username }) => username)).toEqual(['me@corp']);
  });

  it.each([
    ['S03 a user of 256 bytes', `socks5://${'u'.repeat(256)}:CANARY@h`, /at most 255 bytes/],
    ['S03 a password of 256 bytes', `socks5://u:CANARY${'p'.repeat(250)}@h`, /at most 255 bytes/],
    ['S04 a password without a user', 'socks5://:CANARY@h', /without a user name/],
    ['a password for SOCKS4', 'socks4://u:CANARY@h', /no password/],
  ])('%s is refused when configured, without showing it', async (_, url, reason) => {
    const error = await startGateway({ upstreams: [url] }).then(
      () => 'it started',
      (problem: unknown) => String(problem),
    );
    expect(error).toMatch(reason);
    expect(error).not.toContain('CANARY');
  });

  it.each<[string, SocksAnswers, RegExp]>([
    ['the login is refused', { loginStatus: 1 }, /refused the configured login/],
    ['no method will do', { method: 255 }, /takes no login by password/],
  ])('%s: the exit is out at once, and nobody learns the login', async (_, answers, detail) => {
    const { gateway, client } = await startSocks(page, { userinfo: 'user:CANARY@', answers });
    const answer = answerOf(await (await client()).write(connectHead()).answer());
    expect(answer.problem()).toMatchObject({ code: 'upstream_auth', status: 502 });
    expect(answer.problem().detail).toMatch(detail);
    expect((await gateway.event('exit_banned')).reason).toBe('auth');
    expect(JSON.stringify(gateway.events) + answer.body.toString()).not.toContain('CANARY');
  });
});

describe('S06 S07 replies split, glued and of every length', () => {
  it.each([
    ['socks5h', bound.ipv4],
    ['socks5h', bound.name],
    ['socks5h', bound.ipv6],
    ['socks4', bound.version4],
  ] as const)('S06 S07 %s, each byte in a write of its own', async (protocol, reply) => {
    const userinfo = protocol === 'socks4' ? 'u@' : 'u:p@';
    const rig = await startSocks(page, { protocol, userinfo, answers: { reply, isSlow: true } });
    const tunnel = await rig.client();
    await tunnel.write(connectHead()).head();
    tunnel.take();
    tunnel.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n');
    expect((await tunnel.answer()).body.toString()).toBe('page');
    expect((await (await rig.client()).write(getHead()).answer()).body.toString()).toBe('page');
  });

  it.each([
    ['socks5h', bound.ipv4],
    ['socks5h', bound.name],
    ['socks5h', bound.ipv6],
    ['socks4a', bound.version4],
  ] as const)(
    'S06 S07 %s: bytes glued behind the reply are the client’s, no more and no less',
    async (protocol, reply) => {
      const rig = await startSocks(echo, {
        protocol,
        answers: { reply: Buffer.concat([reply, Buffer.from('220 hi\r\n')]) },
      });
      const tunnel = await rig.client();
      await tunnel.write(connectHead()).head();
      expect(await tunnel.until('220 hi\r\n')).toMatch(/\r\n\r\n220 hi\r\n$/);
      tunnel.write('QUIT');
      expect(await tunnel.until('QUIT')).toMatch(/\r\n\r\n220 hi\r\nQUIT$/);
    },
  );

  it('S06 a target that speaks before it is asked speaks no HTTP', async () => {
    const reply = Buffer.concat([bound.ipv4, Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')]);
    const { client } = await startSocks(echo, { answers: { reply } });
    const answer = answerOf(await (await client()).write(getHead()).answer());
    expect(answer.problem()).toMatchObject({ code: 'target_failed', status: 502 });
  });
});

describe('S09 a half answer is a failure', () => {
  it.each([
    [
      'to the greeting',
      (): Script => async (peer) => {
        await peer.bytes(3);
        peer.write(Buffer.of(5));
        await peer.gone();
      },
    ],
    ['to nothing at all', (): Script => (peer) => peer.gone()],
  ])('%s: a deadline ends it, and the exit is out after the second', async (_, script) => {
    const { gateway, client, upstream } = await startRig(script(), {
      upstreams: ({ port }) => [`socks5://127.0.0.1:${port}`],
      config: { timeouts: { first_byte: '100ms' }, retry: { retries: 0 } },
    });
    const answer = answerOf(await (await client()).write(connectHead()).answer());
    expect(answer.problem()).toMatchObject({ code: 'upstream_timeout', status: 504 });
    expect((await (await client()).write(getHead('http://b.test/')).answer()).status).toBe(504);
    expect((await gateway.event('exit_banned')).reason).toBe('timeout');
    await upstream.idle();
  });

  it.each([
    ['FIN', 'closed', 'upstream_closed'],
    ['RST', 'reset', 'upstream_closed'],
  ] as const)('%s in the middle of it too', async (how, _, code) => {
    const { client } = await startRig(
      async (peer) => {
        await peer.bytes(3);
        peer.write(Buffer.of(5));
        if (how === 'FIN') peer.end();
        else peer.reset();
      },
      { upstreams: ({ port }) => [`socks5://127.0.0.1:${port}`] },
    );
    const answer = answerOf(await (await client()).write(connectHead()).answer());
    expect(answer.problem()).toMatchObject({ code, blame: 'upstream' });
  });

  it('a client that leaves takes the handshake along', async () => {
    const { client, upstream } = await startRig((peer) => peer.gone(), {
      upstreams: ({ port }) => [`socks5://127.0.0.1:${port}`],
    });
    const leaving = await client();
    leaving.write(connectHead());
    await (await upstream.peer(0)).bytes(3);
    leaving.reset();
    await upstream.idle();
    expect(upstream.accepts).toBe(1);
  });
});

describe('S10 resets between handshake and tunnel', () => {
  it('500 resets right behind the success reply end no process and leave no socket', async () => {
    const { client, upstream } = await startRig(
      async (peer, nth) => {
        await answerSocks(peer);
        for (let turn = 0; turn < nth % 6; turn++) await new Promise((resolve) => setImmediate(resolve));
        peer.reset();
      },
      {
        // As many exits as resets: one that fails again and again would be left alone.
        upstreams: ({ port }) =>
          Array.from({ length: 500 }, (_, nth) => `socks5://u${nth}:p@127.0.0.1:${port}`),
        config: { retry: { retries: 0 } },
      },
    );
    for (let nth = 0; nth < 500; nth += 25) {
      const all = Array.from({ length: 25 }, async (_, at) => {
        const one = await client();
        one.write(at % 2 === 0 ? connectHead() : getHead());
        await one.head();
        one.destroy();
      });
      await Promise.all(all);
    }
    await upstream.idle();
    expect(upstream.accepts).toBe(500);
  });

  it('nor do resets of the client at that moment', async () => {
    const waiting: (() => void)[] = [];
    const { client, upstream } = await startRig(
      async (peer) => {
        const asked = answerSocks(peer);
        waiting.shift()?.();
        await asked;
      },
      { upstreams: ({ port }) => [`socks5://127.0.0.1:${port}`] },
    );
    for (let nth = 0; nth < 100; nth++) {
      const one = await client();
      waiting.push(() => one.reset());
      one.write(connectHead());
      await one.closed();
    }
    await upstream.idle();
  });
});

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
