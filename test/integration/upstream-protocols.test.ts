/**
 * G6: real proxies as upstreams, each by plain GET and by CONNECT, with and without a login. Nobody here wrote them.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, connect } from '../support/ask.js';
import { startGateway } from '../support/gateway.js';
import { makeCertificate, startOrigin, type Origin } from '../support/real-origins.js';
import {
  distinctAddress,
  startDante,
  startProxyChain,
  startSquid,
  startTinyproxy,
  type ProxyOptions,
  type RealProxy,
} from '../support/real-proxies.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
let origin: Origin;

beforeAll(async () => {
  origin = await startOrigin();
});
afterAll(() => origin.close());

const auth = { username: 'crawler', password: 'pass-1' };

/** Asks for the origin's page both ways, several times; gives what the origin saw as the client's address. */
async function bothWays(
  upstream: string | Record<string, unknown>,
  host = origin.host,
): Promise<{ seen: string[]; codes: (string | undefined)[] }> {
  const gateway = stage.keep(
    await startGateway({
      upstreams: [upstream],
      config: { targets: { allow: ['127.0.0.0/8', 'localhost'] }, retry: { retries: 0 } },
    }),
  );
  const seen: string[] = [];
  for (let nth = 0; nth < 2; nth++) {
    const plain = await ask(gateway, `http://${host}:${origin.port}/ip`);
    seen.push(plain.status === 200 ? plain.body.toString() : `${plain.status}`);
    const { client, answer } = await connect(gateway, `${host}:${origin.port}`);
    if (answer.status === 200) {
      client.write(`GET /ip HTTP/1.1\r\nHost: x\r\n\r\n`);
      seen.push((await client.answer()).body.toString());
    } else seen.push(`${answer.status}`);
    client.destroy();
  }
  const codes = gateway.events.map((event) =>
    event.type === 'exchange_ended' ? (event.code ?? undefined) : undefined,
  );
  return { seen, codes: codes.filter((code) => code !== undefined) };
}

const http: [string, (options?: ProxyOptions) => Promise<RealProxy>][] = [
  ['squid', startSquid],
  ['tinyproxy', startTinyproxy],
  ['proxy-chain', startProxyChain],
];

describe('G6 HTTP proxies', () => {
  it.each(http)('%s, with and without a login, by GET and CONNECT', async (_, start) => {
    const open = stage.keep(await start());
    expect(await bothWays(open.url)).toEqual({ seen: Array(4).fill(open.host), codes: [] });
    const closed = stage.keep(await start({ auth }));
    expect(await bothWays(closed.url)).toEqual({ seen: Array(4).fill(closed.host), codes: [] });
  });
});

describe('G6 an HTTPS proxy', () => {
  it('proxy-chain inside TLS, its CA named, by GET and CONNECT', async () => {
    const listenHost = distinctAddress();
    const certificate = await makeCertificate([listenHost]);
    const proxy = stage.keep(await startProxyChain({ listenHost, certificate, auth }));
    const good = await bothWays({ url: proxy.url, tls: { ca: certificate.caPath } });
    expect(good).toEqual({ seen: Array(4).fill(listenHost), codes: [] });
    expect(await bothWays({ url: proxy.url, tls: { verify: false } })).toEqual(good);
    expect((await bothWays(proxy.url)).codes[0]).toBe('upstream_tls');
    await certificate.dispose();
  });
});

describe('G6 dante, a SOCKS proxy', () => {
  // Dante goes out from 127.0.0.1; what shows that it was used is its log.
  it.each(['socks5', 'socks5h', 'socks4', 'socks4a'])(
    '%s without a login, by GET and CONNECT',
    async (scheme) => {
      const dante = stage.keep(await startDante());
      const url = dante.url.replace('socks5h', scheme);
      expect(await bothWays(url)).toEqual({ seen: Array(4).fill('127.0.0.1'), codes: [] });
      expect(dante.log()).toContain(`.${origin.port}`);
    },
  );

  it('socks5h: it resolves names itself', async () => {
    const dante = stage.keep(await startDante());
    expect(await bothWays(dante.url, 'localhost')).toEqual({ seen: Array(4).fill('127.0.0.1'), codes: [] });
  });

  it('socks4a: it knows SOCKS4 only, and the answer to a name says what that means', async () => {
    const dante = stage.keep(await startDante());
    const gateway = stage.keep(
      await startGateway({
        upstreams: [dante.url.replace('socks5h', 'socks4a')],
        config: { targets: { allow: ['localhost'] }, retry: { retries: 0 } },
      }),
    );
    const answer = await ask(gateway, `http://localhost:${origin.port}/ip`);
    expect(answer.problem()).toMatchObject({ code: 'upstream_error', status: 502 });
    expect(answer.problem().detail).toMatch(/SOCKS4 reply 91; .*addresses only/);
  });

  it('with a login, and with a wrong one', async () => {
    const dante = stage.keep(await startDante({ auth }));
    expect(await bothWays(dante.url)).toEqual({ seen: Array(4).fill('127.0.0.1'), codes: [] });
    const wrong = await bothWays(dante.url.replace('pass-1', 'pass-2'));
    expect(wrong.codes[0]).toBe('upstream_auth');
    const none = await bothWays(dante.url.replace('crawler:pass-1@', ''));
    expect(none.codes[0]).toBe('upstream_auth');
  });

  it('says why a target can not be reached', async () => {
    const dante = stage.keep(await startDante());
    const gateway = stage.keep(
      await startGateway({ upstreams: [dante.url], config: { retry: { retries: 0 } } }),
    );
    const refused = await ask(gateway, 'http://127.0.0.1:1/');
    expect(refused.problem()).toMatchObject({ code: 'target_unreachable', blame: 'target' });
    expect(refused.problem().detail).toContain('connection refused (SOCKS5 reply 5)');
  });
});

describe('G6 no proxy at all', () => {
  it('direct:// by GET and CONNECT, by address and by name', async () => {
    expect(await bothWays('direct://')).toEqual({ seen: Array(4).fill('127.0.0.1'), codes: [] });
    expect(await bothWays('direct://', 'localhost')).toEqual({ seen: Array(4).fill('127.0.0.1'), codes: [] });
  });
});
