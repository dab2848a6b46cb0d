/**
 * Proves, without any of our own code in the path, that the proxies the other integration tests rely on work:
 * a failure here means that the machine is broken and not the gateway.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeCertificate, sha256OfBytes, startOrigin } from '../support/real-origins.js';
import type { Origin, TestCertificate } from '../support/real-origins.js';
import {
  distinctAddress,
  startDante,
  startHaproxy,
  startProxyChain,
  startSquid,
  startTinyproxy,
} from '../support/real-proxies.js';
import type { ProxyOptions, RealProxy } from '../support/real-proxies.js';

const run = promisify(execFile);

let certificate: TestCertificate;
let plain: Origin;
let secure: Origin;

beforeAll(async () => {
  certificate = await makeCertificate();
  plain = await startOrigin();
  secure = await startOrigin({ certificate });
});

afterAll(async () => {
  await Promise.all([plain.close(), secure.close(), certificate.dispose()]);
});

/** One request by curl: its output, or how it failed. */
async function curl(...args: string[]): Promise<string> {
  const common = ['-sS', '--max-time', '10', '--noproxy', '', '--cacert', certificate.caPath];
  const { stdout } = await run('curl', [...common, ...args]);
  return stdout;
}

const statusOnly = ['-o', '/dev/null', '-w', '%{http_code}'];

function withoutLogin(proxy: RealProxy): string {
  return proxy.url.replace(/\/\/.*@/, '//');
}

const httpProxies: [string, (options?: ProxyOptions) => Promise<RealProxy>][] = [
  ['squid', startSquid],
  ['tinyproxy', startTinyproxy],
  ['proxy-chain', startProxyChain],
];

describe.each(httpProxies)('%s', (_name, start) => {
  it('passes plain GET and CONNECT, and goes out from its own address', async () => {
    const startedAt = performance.now();
    const proxy = await start();
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    try {
      expect(await curl('-x', proxy.url, `${plain.url}/ip`)).toBe(proxy.host);
      expect(await curl('-x', proxy.url, `${secure.url}/ip`)).toBe(proxy.host);
      expect(await curl('-x', proxy.url, '-p', `${plain.url}/ip`)).toBe(proxy.host);
      expect(proxy.log()).toContain('127.0.0.1');
    } finally {
      await proxy.close();
    }
    await expect(curl('-x', proxy.url, `${plain.url}/ip`)).rejects.toThrow(/connect/i);
  });

  it('asks for its login and takes no other', async () => {
    const proxy = await start({ auth: { username: 'crawler', password: 'pass-1' } });
    try {
      expect(await curl('-x', proxy.url, `${plain.url}/ip`)).toBe(proxy.host);
      expect(await curl('-x', proxy.url, `${secure.url}/ip`)).toBe(proxy.host);
      const before = plain.requests();
      // tinyproxy answers 401 instead of 407 to plain requests without a login.
      expect(await curl('-x', withoutLogin(proxy), ...statusOnly, `${plain.url}/ip`)).toMatch(/^40[17]$/);
      const wrong = proxy.url.replace('pass-1', 'pass-2');
      expect(await curl('-x', wrong, ...statusOnly, `${plain.url}/ip`)).toMatch(/^40[17]$/);
      await expect(curl('-x', wrong, `${secure.url}/ip`)).rejects.toThrow(/CONNECT|tunnel/i);
      expect(plain.requests()).toBe(before);
    } finally {
      await proxy.close();
    }
  });
});

describe('haproxy', () => {
  it('is a TCP front: the origin sees the proxy behind it, login included', async () => {
    const behind = await startTinyproxy({ auth: { username: 'crawler', password: 'pass-1' } });
    const front = await startHaproxy({ behind });
    try {
      expect(await curl('-x', front.url, `${plain.url}/ip`)).toBe(behind.host);
      expect(await curl('-x', front.url, `${secure.url}/ip`)).toBe(behind.host);
      expect(behind.log()).toContain(front.host);
    } finally {
      await front.close();
      await behind.close();
    }
  });
});

describe('dante', () => {
  it('passes SOCKS5 with and without a login', async () => {
    const open = await startDante();
    const closed = await startDante({ auth: { username: 'crawler', password: 'pass-1' } });
    try {
      expect(await curl('-x', open.url, `${plain.url}/ip`)).toBe(open.host);
      expect(await curl('-x', open.url, `${secure.url}/ip`)).toBe(open.host);
      expect(await curl('-x', closed.url, `${secure.url}/ip`)).toBe(closed.host);
      await expect(curl('-x', withoutLogin(closed), `${plain.url}/ip`)).rejects.toThrow(
        /SOCKS|authentication/i,
      );
      await expect(curl('-x', closed.url.replace('pass-1', 'no'), `${plain.url}/ip`)).rejects.toThrow();
    } finally {
      await open.close();
      await closed.close();
    }
  });
});

describe('proxy-chain over TLS', () => {
  it('takes its requests inside TLS', async () => {
    const listenHost = distinctAddress();
    const own = await makeCertificate([listenHost]);
    const proxy = await startProxyChain({ listenHost, certificate: own });
    try {
      expect(proxy.url).toMatch(/^https:/);
      expect(await curl('--proxy-cacert', own.caPath, '-x', proxy.url, `${plain.url}/ip`)).toBe(listenHost);
      expect(await curl('--proxy-cacert', own.caPath, '-x', proxy.url, `${secure.url}/ip`)).toBe(listenHost);
    } finally {
      await proxy.close();
      await own.dispose();
    }
  });
});

describe('origin', () => {
  it('serves what it says', async () => {
    const head = await curl('-D', '-', '-o', '/dev/null', `${secure.url}/bytes/200000`);
    expect(head.toLowerCase()).toContain(`x-sha256: ${sha256OfBytes(200_000)}`);
    const echo = JSON.parse(await curl('-d', 'abc', '-H', 'X-Odd-Case: 1', `${plain.url}/echo`));
    expect(echo).toMatchObject({ method: 'POST', url: '/echo', bodyBytes: 3 });
    expect(echo.rawHeaders).toContain('X-Odd-Case');
    expect(await curl(`${plain.url}/chunked/3`)).toBe('chunk 0\nchunk 1\nchunk 2\n');
    expect(await curl(...statusOnly, `${plain.url}/status/503`)).toBe('503');
    expect(await curl(`${plain.url}/slow?ms=30`)).toBe('slow\n');
    expect(plain.requestsTo('/echo')).toBe(1);
    expect(secure.connections()).toBeGreaterThan(0);
  });
});
