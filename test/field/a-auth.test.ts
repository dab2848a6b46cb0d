/** Field cases of kind A: credentials between client and gateway, and between gateway and upstream. */
import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.js';
import { fieldsOf, type RawMessage } from '../support/raw-client.js';
import { alsoScripted, connectHead, getHead, login, startRig } from '../support/rig.js';
import { refusedPort, serveEach, type Script } from '../support/scripted-upstream.js';

/** Serves plain requests and CONNECTs, as a proxy does. */
const proxy: Script = serveEach((peer, { head }) => {
  if (head.startsWith('CONNECT ')) peer.write('HTTP/1.1 200 OK\r\n\r\n');
  else peer.answer('page');
});

/** What an upstream got as Proxy-Authorization, decoded; with its scheme. */
function loginIn(head: string | undefined): string[] {
  return fieldsOf(head ?? '', 'proxy-authorization').map((value) => {
    const [scheme, base64 = ''] = value.split(' ');
    return `${scheme} ${Buffer.from(base64, 'base64').toString('utf8')}`;
  });
}

function codeOf(answer: RawMessage): string {
  return (JSON.parse(answer.body.toString()) as { code: string }).code;
}

const twoKinds = [
  ['CONNECT', connectHead],
  ['GET', (_: string, ...fields: string[]) => getHead('http://a.test/', ...fields)],
] as const;

describe('A01 A04 A07 A08 the login of an upstream', () => {
  it.each([
    ['A01 a colon in the password', 'u:pa:ss', 'u:pa:ss'],
    ['A01 a colon that is encoded', 'u:pa%3Ass', 'u:pa:ss'],
    ['an at sign and a slash', 'u:p%40a%2Fb', 'u:p@a/b'],
    ['A04 letters beyond ASCII, encoded', 'u:p%C3%A4ssw%C3%B6rd!~', 'u:pässwörd!~'],
    ['A04 letters beyond ASCII, as they are', 'u:pässwörd!~', 'u:pässwörd!~'],
    ['an empty password', 'u:', 'u:'],
    ['an encoded percent', 'u:100%25', 'u:100%'],
  ])('%s arrives as Basic, on CONNECT and GET alike', async (_, userinfo, expected) => {
    const { client, upstream } = await startRig(proxy, {
      upstreams: ({ port }) => [`http://${userinfo}@127.0.0.1:${port}`],
    });
    for (const [, head] of twoKinds) await (await client()).write(head('a.test:443')).head();
    expect(upstream.heads.map(loginIn)).toEqual([[`Basic ${expected}`], [`Basic ${expected}`]]);
  });

  it('A08 is on every request that needs it: kept connections and upgrades too, never inside a tunnel', async () => {
    const { client, upstream } = await startRig(proxy, { upstreams: ({ loginUrl }) => [loginUrl('u', 'p')] });
    const plain = await client();
    await plain.write(getHead()).answer();
    await plain.write(getHead()).answer();
    await plain.write(getHead('http://a.test/', 'Connection: Upgrade', 'Upgrade: websocket')).answer();
    const tunnel = await client();
    await tunnel.write(connectHead()).head();
    tunnel.write(getHead('http://inner.test/'));
    await (await upstream.peer(upstream.accepts - 1)).until('inner.test');
    const inner = upstream.heads.findIndex((head) => head.includes('inner.test'));
    const seen = upstream.heads.map(loginIn);
    expect(seen.filter((_, nth) => nth !== inner)).toEqual(Array(4).fill(['Basic u:p']));
    if (inner >= 0) expect(seen[inner]).toEqual([]);
  });

  it('A03 a stray percent is refused when configured, without showing the password', async () => {
    const wrong = startGateway({ upstreams: ['http://u:x%6zq@127.0.0.1:1'] });
    const error = await wrong.then(
      () => null,
      (reason: unknown) => String(reason),
    );
    expect(error).toMatch(/percent|%/i);
    expect(error).not.toContain('x%6zq');
  });
});

describe('A09 the login of the client goes no further than the gateway', () => {
  const clients = [{ name: 'crawler', password: 'tok3n' }];

  it.each([
    ['with a login of its own', true],
    ['without', false],
  ])('to an upstream %s', async (_, hasLogin) => {
    const { client, upstream } = await startRig(proxy, {
      config: { clients },
      upstreams: ({ url, loginUrl }) => [hasLogin ? loginUrl('u', 'p') : url],
    });
    for (const [, head] of twoKinds) {
      await (await client()).write(head('a.test:443', login('crawler', 'tok3n'))).head();
    }
    expect(upstream.heads.map(loginIn)).toEqual(Array(2).fill(hasLogin ? ['Basic u:p'] : []));
    const sent = upstream.peers.map((peer) => peer.text).join('');
    expect(sent).not.toContain(Buffer.from('crawler:tok3n').toString('base64'));
  });

  it('in any case, and also where no login is asked', async () => {
    const { client, upstream } = await startRig(proxy);
    for (const name of ['Proxy-Authorization', 'proxy-authorization', 'PROXY-AUTHORIZATION']) {
      const head = getHead('http://a.test/', `${name}: Basic ${Buffer.from('x:y').toString('base64')}`);
      await (await client()).write(head).answer();
      await (await client()).write(head.replace('GET ', 'OPTIONS ')).answer();
    }
    expect(upstream.heads).toHaveLength(6);
    expect(upstream.heads.join('')).not.toMatch(/proxy-authorization/i);
  });

  it('while Authorization, which is for the target, does', async () => {
    const { client, upstream } = await startRig(proxy);
    await (await client()).write(getHead('http://a.test/', 'Authorization: Basic eDp5')).answer();
    expect(fieldsOf(upstream.heads[0] ?? '', 'authorization')).toEqual(['Basic eDp5']);
  });

  it('nor into log, metrics or answers', async () => {
    const { client, gateway } = await startRig(proxy, { config: { clients, log: { level: 'debug' } } });
    const answers = [
      await (await client()).write(getHead('http://a.test/', login('crawler', 'tok3n'))).answer(),
      await (await client()).write(getHead('http://a.test/', login('crawler', 'wr0ng'))).answer(),
    ];
    const written = JSON.stringify([
      gateway.events,
      answers.map((each) => each.head),
      await gateway.metrics(),
    ]);
    for (const secret of ['tok3n', 'wr0ng']) {
      expect(written).not.toContain(secret);
      expect(written).not.toContain(Buffer.from(`crawler:${secret}`).toString('base64'));
    }
  });
});

describe('A12 A07 A14 the gateway asks for its own login', () => {
  const config = { clients: [{ name: 'u', password: 'pässwörd!~' }] };

  it.each([
    ['no login', []],
    ['a wrong password', [login('u', 'x')]],
    ['a wrong name', [login('x', 'pässwörd!~')]],
    ['bad base64', ['Proxy-Authorization: Basic !!!']],
    ['no colon', [`Proxy-Authorization: Basic ${Buffer.from('u').toString('base64')}`]],
    ['nothing behind Basic', ['Proxy-Authorization: Basic']],
    ['an empty field', ['Proxy-Authorization:']],
    ['another scheme', ['Proxy-Authorization: Bearer u']],
    ['a login for the target only', ['Authorization: Basic dTpw']],
  ])('with 407 and a challenge on both kinds: %s', async (_, fields) => {
    const { client, upstream } = await startRig(proxy, { config });
    for (const [, head] of twoKinds) {
      const answer = await (await client()).write(head('a.test:443', ...fields)).answer();
      expect(answer.status).toBe(407);
      expect(codeOf(answer)).toBe('auth_required');
      expect(fieldsOf(answer.head, 'proxy-authenticate')[0]).toMatch(/^Basic realm="[^"]+"/);
      expect(fieldsOf(answer.head, 'www-authenticate')).toEqual([]);
      expect(fieldsOf(answer.head, 'content-length')).toEqual([String(answer.body.length)]);
    }
    expect(upstream.accepts).toBe(0);
  });

  it.each(['Basic', 'basic', 'BASIC', 'bAsIc'])('A07 the scheme may be written %s', async (scheme) => {
    const { client } = await startRig(proxy, { config });
    const field = login('u', 'pässwörd!~').replace('Basic', scheme).replace('Proxy-A', 'proxy-a');
    for (const [, head] of twoKinds) {
      expect(await (await client()).write(head('a.test:443', field)).head()).toMatch(/^HTTP\/1\.1 200 /);
    }
  });

  it('A14 and the second try works on the same connection and on a new one', async () => {
    const { client } = await startRig(proxy, { config });
    for (const [, head] of twoKinds) {
      const same = await client();
      expect((await same.write(head('a.test:443')).answer()).status).toBe(407);
      const second = head('a.test:443', login('u', 'pässwörd!~'));
      expect(await same.write(second).head()).toMatch(/^HTTP\/1\.1 200 /);
      expect(await (await client()).write(second).head()).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});

describe('A15 A17 logins and sessions are never mixed up', () => {
  it('A15 a retry on another upstream carries that one’s login only', async () => {
    const b = await alsoScripted(proxy);
    const c = await alsoScripted(proxy);
    const a = await alsoScripted(serveEach((peer) => peer.reset()));
    const dead = await refusedPort();
    for (const first of [a.loginUrl('u1', 'p1'), `http://u1:p1@127.0.0.1:${dead}`]) {
      const { client } = await startRig(proxy, { upstreams: () => [first, b.loginUrl('u2', 'p2')] });
      for (const [, head] of twoKinds) {
        await (await client()).write(head('a.test:443')).head();
        await (await client()).write(head('a.test:443')).head();
      }
    }
    expect(b.heads.length).toBeGreaterThan(3);
    for (const head of b.heads) expect(loginIn(head)).toEqual(['Basic u2:p2']);
    const { client } = await startRig(proxy, { upstreams: () => [a.loginUrl('u1', 'p1'), c.url] });
    for (const [, head] of twoKinds) {
      await (await client()).write(head('a.test:443')).head();
      await (await client()).write(head('a.test:443')).head();
    }
    expect(c.heads.length).toBeGreaterThan(1);
    for (const head of c.heads) expect(loginIn(head)).toEqual([]);
  });

  it('A17 kept connections are not shared between logins or sessions', async () => {
    const users = new Map<number, Set<string>>();
    const { client, upstream } = await startRig(
      async (peer, nth) => {
        const seen = new Set<string>();
        users.set(nth, seen);
        for (;;) {
          const { head } = await peer.request();
          seen.add(`${loginIn(head).join()} ${fieldsOf(head, 'x-visit').join()}`);
          peer.answer(fieldsOf(head, 'x-nonce').join());
        }
      },
      { upstreams: ({ loginUrl }) => [loginUrl('u1', 'p'), loginUrl('u2', 'p')] },
    );
    const c = await client();
    for (let nth = 0; nth < 24; nth++) {
      const session = `s${nth % 3}`;
      const nonce = `n${nth}`;
      const url = `http://h${nth % 2}.test/`;
      const fields = [`X-Session-Id: ${session}`, `X-Visit: ${session}`, `X-Nonce: ${nonce}`];
      const answer = await c.write(getHead(url, ...fields)).answer();
      expect(answer.body.toString()).toBe(nonce);
    }
    for (const seen of users.values()) expect([...seen]).toHaveLength(1);
    expect(upstream.accepts).toBe(3);
  });
});
