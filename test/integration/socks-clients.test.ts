/** Programs that speak SOCKS5 to the gateway, and that an empty pool never means going out directly (N12). */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { connect } from '../support/ask.js';
import { makeCertificate, startOrigin } from '../support/real-origins.js';
import { startProxyChain } from '../support/real-proxies.js';
import { RawClient } from '../support/raw-client.js';
import { startScripted } from '../support/scripted-upstream.js';
import { askSocks } from '../support/socks-client.js';
import { createStage } from '../support/stage.js';

const run = promisify(execFile);
const stage = createStage();

describe('real clients by SOCKS5', () => {
  it('curl with a user name that carries a session, and Python requests', async () => {
    const certificate = await makeCertificate();
    stage.keep({ close: () => certificate.dispose() });
    const origin = stage.keep(await startOrigin({ certificate }));
    const exits = [stage.keep(await startProxyChain()), stage.keep(await startProxyChain())];
    const gateway = await stage.gateway(
      exits.map((exit) => exit.url),
      { clients: [{ name: 'me', password: 'secret' }], targets: { allow: ['localhost'] } },
    );
    const url = `https://localhost:${origin.port}/ip`;
    const curl = async (session: string) => {
      const proxy = [
        '--socks5-hostname',
        `127.0.0.1:${gateway.port}`,
        '--proxy-user',
        `me+session=${session}:secret`,
      ];
      const args = [
        '-sS',
        '--max-time',
        '20',
        '--noproxy',
        '',
        '--cacert',
        certificate.caPath,
        ...proxy,
        url,
      ];
      return (await run('curl', args, { env: { PATH: process.env['PATH'] } })).stdout;
    };
    const [first, again] = [await curl('s1'), await curl('s1')];
    expect(exits.map(({ host }) => host)).toContain(first.trim());
    expect(again).toBe(first);
    const script = [
      'import requests, sys',
      's = requests.Session(); s.trust_env = False',
      "p = 'socks5h://me+session=s1:secret@127.0.0.1:' + sys.argv[1]",
      "print(s.get(sys.argv[2], proxies={'https': p}, verify=sys.argv[3], timeout=20).text)",
    ].join('\n');
    const { stdout } = await run('/usr/bin/python3', [
      '-c',
      script,
      String(gateway.port),
      url,
      certificate.caPath,
    ]);
    expect(stdout.trim()).toBe(first.trim());
    await expect(
      run('curl', ['-sS', '--socks5-hostname', `127.0.0.1:${gateway.port}`, url]),
    ).rejects.toThrow();
  });
});

describe('N12 an exit is always needed', () => {
  it.each([
    ['no exits', [], {}],
    ['all down', ['http://127.0.0.1:1'], { retry: { retries: 0 } }],
  ])('%s: an answer in time by HTTP and SOCKS5, never direct', async (name, upstreams, config) => {
    const target = await startScripted(() => undefined);
    stage.keep(target);
    const gateway = await stage.gateway(upstreams, { timeouts: { acquire: '300ms' }, ...config });
    const startedMs = performance.now();
    for (let i = 0; i < 2; i++) {
      const answer = await askSocks(gateway.port, { host: '127.0.0.1', port: target.port });
      expect(answer.reply).toBeGreaterThan(0);
      const plain = await RawClient.connect(gateway.port);
      plain.write(`GET http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: 127.0.0.1:${target.port}\r\n\r\n`);
      const { status, head } = await plain.answer();
      expect([502, 503]).toContain(status);
      if (status === 503) expect(head).toMatch(/^Retry-After: \d+\r$/m);
      const tunnel = await connect(gateway, `127.0.0.1:${target.port}`);
      expect([502, 503]).toContain(tunnel.answer.status);
    }
    expect(performance.now() - startedMs).toBeLessThan(6 * 300 + 2000);
    expect(target.accepts).toBe(0);
    expect(name).not.toBe('');
  });
});
