/** SOCKS5 on the proxy port: the same logins, sessions, targets, limits and retries as HTTP CONNECT. */
import { describe, expect, it } from 'vitest';
import { connect } from '../support/ask.js';
import { RawClient } from '../support/raw-client.js';
import { refusedPort, startScripted } from '../support/scripted-upstream.js';
import { askSocks, askSocksOn, requestBytes } from '../support/socks-client.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const clients = [{ name: 'me', password: 'pä:ss' }];
const me = { username: 'me', password: 'pä:ss' };

describe('SOCKS5 from a client', () => {
  it('opens a tunnel by name, IPv4 and IPv6; the exit resolves the name', async () => {
    const exit = await stage.good('ok');
    const gateway = await stage.gateway([exit]);
    for (const host of ['only-remote.test', '93.184.216.34', '2606:4700::1111']) {
      const { client, reply } = await askSocks(gateway.port, { host, early: 'before' });
      expect(reply).toBe(0);
      client.write(' and after');
      expect(await client.until('after')).toBe('before and after');
      client.destroy();
    }
    const targets = exit.heads.map((head) => head.split(' ')[1]);
    expect(targets).toEqual(['only-remote.test:443', '93.184.216.34:443', '[2606:4700::1111]:443']);
  });

  it('logs in by user name and password, and the name carries the session', async () => {
    const exits = [await stage.good('one'), await stage.good('two'), await stage.good('three')];
    const gateway = await stage.gateway(exits, { clients });
    const login = (session: string) => ({ ...me, username: `me+session=${session}` });
    for (const session of ['a1', 'a2', 'a3', 'a1', 'a2', 'a3', 'a1']) {
      const { client, method, loginStatus, reply } = await askSocks(gateway.port, { login: login(session) });
      expect([method, loginStatus, reply]).toEqual([2, 0, 0]);
      client.destroy();
    }
    const pins = gateway.events.filter((event) => event.type === 'session_pinned');
    expect(pins.map((pin) => pin.session)).toEqual(['a1', 'a2', 'a3']);
    expect(exits.reduce((sum, exit) => sum + exit.accepts, 0)).toBe(7);
    // The same session by HTTP is on the same exit: one name, one pin, however it was said.
    const basic = Buffer.from('me+session=a1:pä:ss').toString('base64');
    const { client, answer } = await connect(gateway, 'a.test:443', {
      fields: [`Proxy-Authorization: Basic ${basic}`],
    });
    expect(answer.field('x-turnpike-upstream')).toBe(pins[0]?.upstream);
    client.destroy();
    const ended = await gateway.event('exchange_ended', ({ session }) => session === 'a2');
    expect(ended).toMatchObject({ client: 'me', kind: 'tunnel', method: 'CONNECT', target: 'a.test:443' });
  });

  it('is refused without a login, with a wrong one, and with an unknown parameter', async () => {
    const exit = await stage.good('ok');
    const gateway = await stage.gateway([exit], { clients });
    const none = await askSocks(gateway.port);
    expect(none.method).toBe(255);
    expect(await none.client.ended()).toBe('fin');
    for (const login of [
      { ...me, password: 'x' },
      { ...me, username: 'you' },
      { username: 'me', password: '' },
    ]) {
      const wrong = await askSocks(gateway.port, { login });
      expect(wrong.loginStatus).toBe(1);
      expect(await wrong.client.ended()).toBe('fin');
    }
    const odd = await askSocks(gateway.port, { login: { ...me, username: 'me+sesion=1' } });
    expect([odd.loginStatus, odd.reply]).toEqual([0, 1]);
    const codes = gateway.events.flatMap((event) => (event.type === 'exchange_ended' ? [event.code] : []));
    expect(codes).toEqual([...Array<string>(4).fill('auth_required'), 'bad_request']);
    expect(exit.accepts).toBe(0);
  });

  it('says nothing of a name or password in the log, and holds guesses back', async () => {
    const gateway = await stage.gateway([await stage.good('ok')], { clients });
    const guess = () => askSocks(gateway.port, { login: { username: 'me', password: 'CANARY' } });
    for (let i = 0; i < 10; i++) await guess();
    const startedMs = performance.now();
    expect((await guess()).loginStatus).toBe(1);
    expect(performance.now() - startedMs).toBeGreaterThan(900);
    // A right login is not even looked at now, as with HTTP.
    expect((await askSocks(gateway.port, { login: me })).loginStatus).toBe(1);
    expect(JSON.stringify(gateway.events)).not.toContain('CANARY');
  });

  it.each([
    ['a target that is not allowed', { host: '10.0.0.1' }, 2],
    ['an IPv6 spelling of one', { host: '::ffff:10.0.0.1' }, 2],
    ['a name of one', { host: '0x0a000001' }, 2],
    ['BIND', { command: 2 }, 7],
    ['UDP', { command: 3 }, 7],
    ['a name that is none', { host: 'a b' }, 1],
    ['port 0', { port: 0 }, 1],
  ])('answers %s by its reply', async (_, ask, expected) => {
    const exit = await stage.good('ok');
    const gateway = await stage.gateway([exit], { targets: { allow: [] } });
    const { client, reply } = await askSocks(gateway.port, ask);
    expect(reply).toBe(expected);
    expect(await client.ended()).toBe('fin');
    expect(exit.accepts).toBe(0);
  });

  it('reaches none of our own ports by any spelling', async () => {
    const gateway = await stage.gateway([await stage.good('ok')]);
    for (const port of [gateway.port, gateway.adminPort]) {
      for (const host of ['127.0.0.1', '::1', 'localhost', '0x7f.1', '0.0.0.0', '127.9.9.9']) {
        expect((await askSocks(gateway.port, { host, port })).reply).toBe(2);
      }
    }
  });

  it.each([
    ['a refused dial', async () => `http://127.0.0.1:${await refusedPort()}`, 5],
    ['a target that does not resolve', () => answering('502 Bad Gateway', 'dns_error'), 4],
    ['a target that can not be reached', () => answering('502 Bad Gateway', 'destination_unavailable'), 4],
    ['a target that is late', () => answering('504 Gateway Timeout', 'connection_timeout'), 6],
    ['a silent exit', async () => (await stage.scripted(() => undefined)).url, 6],
  ])('maps %s', async (_, exit, expected) => {
    const gateway = await stage.gateway([await exit()], {
      timeouts: { first_byte: '200ms' },
      retry: { retries: 0 },
    });
    expect((await askSocks(gateway.port)).reply).toBe(expected);
  });

  it('tries another exit before the client hears anything', async () => {
    const good = await stage.good('good');
    const gateway = await stage.gateway([`http://127.0.0.1:${await refusedPort()}`, good.url]);
    for (let i = 0; i < 4; i++) {
      const { client, reply } = await askSocks(gateway.port);
      expect(reply).toBe(0);
      client.destroy();
    }
    expect(gateway.events.some((event) => event.type === 'attempt_ended' && event.retried)).toBe(true);
  });

  it('passes FIN on in both directions and loses nothing', async () => {
    const exit = await startScripted(async (peer) => {
      peer.keepsHalfOpen = true;
      await peer.openTunnel();
      await peer.gone();
      peer.write(`got ${peer.rest}`);
      peer.end();
    });
    stage.keep(exit);
    const gateway = await stage.gateway([exit]);
    const { client } = await askSocks(gateway.port);
    client.write('all of it').end();
    expect(await client.until('got all of it')).toBe('got all of it');
    expect(await client.ended()).toBe('fin');
  });

  it('by the byte is the same', async () => {
    const gateway = await stage.gateway([await stage.good('ok')]);
    const client = await RawClient.connect(gateway.port);
    await client.writeSlowly(Buffer.concat([Buffer.of(5, 1, 0), requestBytes({})]).toString('latin1'));
    await client.untilBytes(12);
    expect([...client.received]).toEqual([5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    client.destroy();
  });

  it('that stops in the middle is closed in time; garbage at once', async () => {
    const gateway = await stage.gateway([await stage.good('ok')], { timeouts: { client_header: '200ms' } });
    for (const bytes of [
      Buffer.of(5),
      Buffer.of(5, 1, 0),
      Buffer.concat([Buffer.of(5, 1, 0), requestBytes({}).subarray(0, 5)]),
    ]) {
      const client = await RawClient.connect(gateway.port);
      client.write(bytes);
      expect(await client.ended()).toBe('fin');
    }
    const garbage = await RawClient.connect(gateway.port);
    garbage.write(Buffer.of(5, 1, 0));
    await garbage.untilBytes(2);
    garbage.write(Buffer.of(4, 1, 0, 1));
    expect(await garbage.ended()).toBe('fin');
    const refused = gateway.events.filter((event) => event.type === 'connection_refused');
    expect(refused.map(({ reason }) => reason)).toEqual(Array(4).fill('socks_handshake'));
    expect(await gateway.metrics()).toMatch(/connections_refused_total\{reason="socks_handshake"\} 4/);
  });

  it('keeps to the limits of its client, and of nobody else', async () => {
    const limited = [
      { name: 'me', password: 'p', limits: { tunnels: 1 } },
      { name: 'other', password: 'p' },
    ];
    const gateway = await stage.gateway([await stage.good('ok')], { clients: limited });
    const as = (username: string) => askSocks(gateway.port, { login: { username, password: 'p' } });
    const first = await as('me');
    expect([first.reply, (await as('me')).reply, (await as('other')).reply]).toEqual([0, 1, 0]);
    first.client.destroy();
    await gateway.event('exchange_ended', ({ client, status }) => client === 'me' && status === 200);
    expect((await as('me')).reply).toBe(0);
  });

  it('keeps nothing open behind it', async () => {
    const exit = await stage.good('ok');
    const gateway = await stage.gateway([exit]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => askSocks(gateway.port)));
    for (const [nth, { client }] of answers.entries()) {
      if (nth % 2 === 0) client.reset();
      else client.destroy();
    }
    await exit.idle();
    expect(await gateway.close()).toEqual({ cut: 0 });
  });
});

/** A scripted exit that refuses tunnels with this status and error type. */
async function answering(status: string, error: string): Promise<string> {
  const exit = await stage.exit(
    (peer) => void peer.answer('', status, [`Proxy-Status: exit; error=${error}`]),
  );
  return exit.url;
}

describe('SOCKS5 inside of what already stands', () => {
  it('is not spoken on a connection that began with HTTP', async () => {
    const gateway = await stage.gateway([await stage.good('ok')]);
    const client = await RawClient.connect(gateway.port);
    client.write('GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n');
    expect((await client.answer()).status).toBe(200);
    client.write(Buffer.of(5, 1, 0));
    client.write('\r\n\r\n');
    expect((await client.answer()).status).toBe(400);
    const fresh = await askSocksOn(await RawClient.connect(gateway.port));
    expect(fresh.reply).toBe(0);
    fresh.client.destroy();
  });
});
