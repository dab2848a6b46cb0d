/** G6: HTTPS upstreams are checked unless told otherwise, and the answer says what was wrong with the certificate. */
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, connect } from '../support/ask.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { makeCertificate, type TestCertificate } from '../support/real-origins.js';
import {
  serveEach,
  startScripted,
  type Script,
  type ScriptedUpstream,
} from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
let good: TestCertificate;
let named: TestCertificate;
let expired: TestCertificate;

beforeAll(async () => {
  good = await makeCertificate(['127.0.0.1', 'proxy.test']);
  named = await makeCertificate(['proxy.example']);
  expired = await makeCertificate(['127.0.0.1'], -1);
});
afterAll(() => Promise.all([good.dispose(), named.dispose(), expired.dispose()]));

/** An HTTPS proxy with this certificate; without one, a server that knows no TLS. */
async function startSecure(certificate: TestCertificate | undefined): Promise<ScriptedUpstream> {
  const proxy = serveEach((peer, { head }) => {
    if (head.startsWith('CONNECT ')) peer.write('HTTP/1.1 200 OK\r\n\r\n');
    else peer.answer('page');
  });
  const plain: Script = async (peer) => {
    await peer.bytes(1);
    peer.write('HTTP/1.1 400 Bad Request\r\n\r\n');
  };
  return stage.keep(await startScripted(certificate === undefined ? plain : proxy, '127.0.0.1', certificate));
}

/** A gateway with this one HTTPS upstream, and a login that must not get out. */
async function startWith(
  port: number,
  tls: Record<string, unknown>,
  host = '127.0.0.1',
): Promise<TestGateway> {
  return stage.keep(
    await startGateway({
      upstreams: [{ url: `https://user:CANARY@${host}:${port}`, tls }],
      config: { retry: { retries: 0 } },
      parts: { lookUp: () => Promise.resolve(['127.0.0.1']) },
    }),
  );
}

describe('G6 what is wrong with a certificate', () => {
  it.each<[string, () => TestCertificate | undefined, (own: TestCertificate) => object, RegExp]>([
    ['expired', () => expired, (own) => ({ ca: own.caPath }), /has expired \(CERT_HAS_EXPIRED\)/],
    ['for another name', () => named, (own) => ({ ca: own.caPath }), /for another name/],
    ['from an unknown CA', () => good, () => ({}), /from an unknown CA/],
    ['from another CA than the one named', () => good, () => ({ ca: named.caPath }), /unknown CA/],
    [
      'for another name than servername',
      () => good,
      (own) => ({ ca: own.caPath, servername: 'other.example' }),
      /for another name/,
    ],
    ['none: no TLS at all', () => undefined, () => ({}), /does not speak TLS/],
  ])('%s: upstream_tls, and no byte of the login is sent', async (_, certificate, tls, detail) => {
    const upstream = await startSecure(certificate());
    const gateway = await startWith(upstream.port, { ...tls(certificate() ?? good) });
    const { answer } = await connect(gateway, 'a.test:443');
    for (const each of [await ask(gateway, 'http://a.test/'), answer]) {
      expect(each.problem()).toMatchObject({ code: 'upstream_tls', status: 502, blame: 'upstream' });
      expect(each.problem().detail).toMatch(detail);
    }
    expect(upstream.heads).toEqual([]);
    for (const peer of upstream.peers) expect(peer.text).not.toContain('Proxy-Auth');
  });
});

describe('G6 choices of verification', () => {
  const serves = async (gateway: TestGateway): Promise<void> => {
    expect((await ask(gateway, 'http://a.test/')).body.toString()).toBe('page');
    expect((await connect(gateway, 'a.test:443')).answer.status).toBe(200);
  };

  it('tls.ca trusts a CA of one’s own, beside the usual ones', async () => {
    const upstream = await startSecure(good);
    await serves(await startWith(upstream.port, { ca: good.caPath }));
    expect((upstream.peers[0]?.socket as TLSSocket).servername).toBe(false);
  });

  it('the name of the URL is asked for and looked for', async () => {
    const upstream = await startSecure(good);
    await serves(await startWith(upstream.port, { ca: good.caPath }, 'proxy.test'));
    expect((upstream.peers[0]?.socket as TLSSocket).servername).toBe('proxy.test');
  });

  it('tls.servername is asked for and looked for instead', async () => {
    const upstream = await startSecure(named);
    const tls = { ca: named.caPath, servername: 'proxy.example' };
    await serves(await startWith(upstream.port, tls));
    await serves(await startWith(upstream.port, tls, 'proxy.test'));
    for (const { socket } of upstream.peers) expect((socket as TLSSocket).servername).toBe('proxy.example');
  });

  it.each(['expired', 'named', 'good'] as const)('tls.verify: false takes any: %s', async (which) => {
    const upstream = await startSecure({ expired, named, good }[which]);
    await serves(await startWith(upstream.port, { verify: false }));
  });
});
