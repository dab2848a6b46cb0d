/** Field cases of kind S: SOCKS upstreams, up to the tunnel. */
import { describe, expect, it } from 'vitest';
import { answerOf } from '../support/ask.js';
import { startGateway } from '../support/gateway.js';
import { connectHead, getHead, startRig } from '../support/rig.js';
import { type Script } from '../support/scripted-upstream.js';
import { answerSocks, bound, type SocksAnswers } from '../support/scripted-socks.js';
import { page, startSocks } from '../support/socks-rig.js';

const versions = ['socks5h', 'socks5', 'socks4a', 'socks4'] as const;

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
        // Nor would a site at which nothing but failures are seen be gone to.
        config: { retry: { retries: 0 }, guard: { enabled: false } },
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
