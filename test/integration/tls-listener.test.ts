/** TLS to the proxy itself: an `https://` proxy URL, on the same port as plain HTTP and SOCKS5. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ask } from '../support/ask.js';
import { startOrigin } from '../support/real-origins.js';
import { startProxyChain } from '../support/real-proxies.js';
import { RawClient } from '../support/raw-client.js';
import { askSocks } from '../support/socks-client.js';
import { listenWith, securedStage } from '../support/secured.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const run = promisify(execFile);
const stage = createStage();
const { certified, connectTls } = securedStage(stage);

describe('a listener with a certificate', () => {
  it('serves GET, keep-alive and CONNECT over TLS, and everything else as before', async () => {
    const certificate = await certified();
    const gateway = await stage.gateway([await stage.good('page')], listenWith(certificate));
    const secured = connectTls(gateway, certificate);
    secured.socket.write('GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n'.repeat(2));
    await waitFor('two pages', () => secured.text().split('\r\n\r\npage').length === 3);
    secured.socket.write('CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\nearly');
    await waitFor('the echo', () => secured.text().endsWith('early'));
    secured.socket.end('late');
    await waitFor('the end', () => secured.ended());
    expect(secured.text()).toMatch(/earlylate$/);
    expect((await ask(gateway, 'http://a.test/')).body.toString()).toBe('page');
    const { client, reply } = await askSocks(gateway.port);
    expect(reply).toBe(0);
    client.destroy();
  });

  it('closes a hello that is garbage at once, and one that never ends in time', async () => {
    const certificate = await certified();
    const gateway = await stage.gateway([await stage.good('page')], {
      ...listenWith(certificate),
      timeouts: { client_header: '200ms' },
    });
    for (const hello of ['1603010005010203040506', '160301']) {
      const client = await RawClient.connect(gateway.port);
      client.write(Buffer.from(hello, 'hex'));
      expect(await client.ended()).not.toBe('open');
    }
    await waitFor('both refusals', () => {
      const refused = gateway.events.filter((event) => event.type === 'connection_refused');
      return refused.length === 2 && refused.every(({ reason }) => reason === 'tls_failed');
    });
    expect(await gateway.metrics()).toMatch(/connections_refused_total\{reason="tls_failed"\} 2/);
  });

  it('shows a cut answer as cut', async () => {
    const certificate = await certified();
    const exit = await stage.exit((peer) => {
      peer.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf').reset();
    });
    const gateway = await stage.gateway([exit], listenWith(certificate));
    const secured = connectTls(gateway, certificate);
    secured.socket.write('GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Turnpike-Detect: off\r\n\r\n');
    await waitFor('the cut', () => secured.ended() || secured.failure() !== undefined);
    expect(secured.text()).toMatch(/half$/);
    // One that is cut by the drain is reset, and that does not end the process.
    const silent = await stage.gateway([await stage.exit(() => undefined)], {
      ...listenWith(certificate),
      timeouts: { drain: '0s' },
    });
    const waiting = connectTls(silent, certificate);
    waiting.socket.write('GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await waitFor('the request', () => silent.events.some(({ type }) => type === 'upstream_connection'));
    expect(await silent.close()).toEqual({ cut: 1 });
    expect(await waitFor('the reset', () => waiting.failure())).toBe('ECONNRESET');
  });

  it('takes a renewed certificate with a reload; one that does not fit keeps the old', async () => {
    const [old, renewed] = [await certified(), await certified()];
    const gateway = await stage.gateway([await stage.good('page')], listenWith(old));
    const before = connectTls(gateway, old);
    await waitFor('TLS', () => before.socket.authorized);
    await gateway.apply({ config: listenWith(renewed) });
    const after = connectTls(gateway, renewed);
    await waitFor('TLS with the renewed one', () => after.socket.authorized);
    before.socket.write('GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n');
    await waitFor('the page', () => before.text().endsWith('page'));
    writeFileSync(renewed.keyPath, old.key);
    expect(() => gateway.apply({ config: listenWith(renewed) })).toThrow(/holds no key that belongs/);
  });

  it('curl with an https:// proxy, and Python requests', async () => {
    const certificate = await certified();
    const origin = stage.keep(await startOrigin({ certificate }));
    const exit = stage.keep(await startProxyChain());
    const gateway = await stage.gateway([exit.url], {
      ...listenWith(certificate),
      targets: { allow: ['localhost'] },
      clients: [{ name: 'me', password: 'secret' }],
    });
    const url = `https://localhost:${origin.port}/ip`;
    const proxy = `https://me:secret@localhost:${gateway.port}`;
    const cas = ['--cacert', certificate.caPath, '--proxy-cacert', certificate.caPath];
    const args = ['-sS', '--max-time', '20', '--noproxy', '', ...cas, '--proxy', proxy, url];
    const { stdout } = await run('curl', args, { env: { PATH: process.env['PATH'] } });
    expect(stdout.trim()).toBe(exit.host);
    const script = [
      'import requests, sys',
      's = requests.Session(); s.trust_env = False',
      'print(s.get(sys.argv[2], proxies={"https": sys.argv[1]}, verify=sys.argv[3], timeout=20).text)',
    ].join('\n');
    const python = await run('/usr/bin/python3', ['-c', script, proxy, url, certificate.caPath]);
    expect(python.stdout.trim()).toBe(exit.host);
  });
});

describe('C21 a listener without a certificate', () => {
  it('refuses TLS at once, with a hint, and takes no browser for SOCKS', async () => {
    const gateway = await stage.gateway([await stage.good('page')]);
    const client = await RawClient.connect(gateway.port);
    const startedMs = performance.now();
    client.write(Buffer.from('16030100c8010000c40303', 'hex'));
    await client.ended();
    expect(performance.now() - startedMs).toBeLessThan(1000);
    expect(await gateway.event('connection_refused')).toMatchObject({
      reason: 'tls_hello',
      detail: expect.stringContaining('http://'),
    });
  });
});
