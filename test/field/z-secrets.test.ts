/** Z07, Z08, Z10: logins of any length, passwords that stay inside, and no open proxy by default. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { ask, connect, headFor, answerOf } from '../support/ask.js';
import { RawClient } from '../support/raw-client.js';
import { refusedPort } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const page = 'http://site.example/';
const basic = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

describe('Z07 passwords of any length', () => {
  const right = 'correct-horse';
  const wrongOnes: readonly [string, string][] = [
    ['empty', ''],
    ['of one letter', 'c'],
    ['one letter short', right.slice(0, -1)],
    ['as long as the right one', 'x'.repeat(right.length)],
    ['one letter more', `${right}x`],
    ['of 5000 letters', 'x'.repeat(5000)],
    ['not ASCII', 'pässwörd'],
  ];
  it.each(wrongOnes)('%s: 407, never a fault', async (_name, password) => {
    const gateway = await stage.gateway([await stage.good('ok')], {
      clients: [{ name: 'crawler', password: right }],
    });
    const wrong = { fields: [`Proxy-Authorization: ${basic('crawler', password)}`] };
    expect((await ask(gateway, page, wrong)).status).toBe(407);
    const { client, answer } = await connect(gateway, 'site.example:443', wrong);
    client.destroy();
    expect(answer.status).toBe(407);
    const good = { fields: [`Proxy-Authorization: ${basic('crawler', right)}`] };
    expect((await ask(gateway, page, good)).status).toBe(200);
  });

  it('one as long as a head is refused as such', async () => {
    const gateway = await stage.gateway([], { clients: [{ name: 'crawler', password: right }] });
    const field = `Proxy-Authorization: ${basic('crawler', 'x'.repeat(64 * 1024))}`;
    expect((await ask(gateway, page, { fields: [field] })).status).toBe(431);
  });
});

describe('Z08 passwords', () => {
  const username = 'exit-user';
  const password = 'sl/ash@at?hash#S3CR3T';
  const clientPassword = 'cl/ient@S3CR3T2';

  /** Every spelling in which one of the passwords could show. */
  const spellings = [
    ...[password, clientPassword].flatMap((secret) => [secret, encodeURIComponent(secret)]),
    ...[basic(username, password), basic('crawler', clientPassword)].map((text) => text.slice(6)),
    'S3CR3T',
  ];

  /** Lines that can't be read (no port, a port that is none, a stray percent, a foreign scheme), and exits that fail. */
  async function badUpstreams(): Promise<string[]> {
    const port = await refusedPort();
    const login = `${encodeURIComponent(username)}:${encodeURIComponent(password)}`;
    const asking = await stage.exit((peer) => {
      peer.answer('', '407 No', ['Proxy-Authenticate: Basic realm="x"']);
    });
    const ending = await stage.exit((peer) => peer.end());
    return [
      `http://${username}:${password}@host`,
      `http://${login}@127.0.0.1:99999`,
      `http://${username}:%zz${password}@127.0.0.1:1`,
      `gopher://${login}@127.0.0.1:1`,
      `${username}:${password}`,
      `http://${login}@127.0.0.1:${port}`,
      `http://${login}@nowhere.invalid:3128`,
      `https://${login}@127.0.0.1:${port}`,
      asking.loginUrl(username, password),
      ending.loginUrl(username, password),
    ];
  }

  it('are in no log, event, metric or answer', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-z08-'));
    const list = join(folder, 'proxies.txt');
    writeFileSync(list, (await badUpstreams()).join('\n'));
    const logFile = join(folder, 'all.log');
    const gateway = await stage.gateway([], {
      pools: { main: { upstreams: [{ file: list }] } },
      clients: [{ name: 'crawler', password: clientPassword }],
      retry: { retries: 4 },
      log: { file: logFile, level: 'debug' },
    });
    const seen: string[] = [];
    const logins = [
      basic('crawler', clientPassword),
      basic('crawler', `${clientPassword}x`),
      'Basic S3CR3T!!',
    ];
    for (const value of [...logins, ...logins]) {
      const fields = [`Proxy-Authorization: ${value}`];
      const { client, answer } = await connect(gateway, 'site.example:443', { fields });
      client.destroy();
      for (const each of [answer, await ask(gateway, page, { fields })])
        seen.push(each.head, each.body.toString());
    }
    seen.push(
      (
        await ask(gateway, 'http://bob:S3CR3T@site.example/', {
          fields: [`Proxy-Authorization: ${logins[0]}`],
        })
      ).body.toString(),
    );
    seen.push(JSON.stringify(gateway.events), await gateway.metrics());
    await gateway.close();
    seen.push(readFileSync(logFile, 'utf8'));
    rmSync(folder, { recursive: true });
    const everything = seen.join('\n');
    expect(everything).toContain('bad_upstream');
    expect(everything).toContain('upstream_auth');
    for (const spelling of spellings) {
      const at = everything.indexOf(spelling);
      expect(at < 0 ? '' : everything.slice(Math.max(0, at - 200), at + 50)).toBe('');
    }
  });

  it('are in no problem of a configuration', () => {
    const tree = (url: string) => `pools:\n  main:\n    upstreams:\n      - { url: '${url}' }\n`;
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-z08-'));
    const file = join(folder, 'turnpike.yaml');
    for (const url of [
      `http://u:${password}@h:99999`,
      `socks9://u:${password}@h:1`,
      `u:${password}`,
      `//u:${password}@`,
    ]) {
      writeFileSync(file, tree(url));
      const loaded = loadConfig({ file, overrides: {}, env: {} });
      expect(loaded.kind).toBe('problems');
      expect(JSON.stringify(loaded)).not.toContain('S3CR3T');
    }
    rmSync(folder, { recursive: true });
  });
});

describe('Z10 the default is no open proxy', () => {
  const main = resolve(import.meta.dirname, '../../dist/cli/main.js');
  const external = Object.values(os.networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

  it.each(['0.0.0.0:0', '[::]:0'])('%s without clients does not start', (listen) => {
    const args = [main, 'serve', '--listen', listen, '--admin', '127.0.0.1:0'];
    const env = { PATH: process.env['PATH'] ?? '' };
    const { status, stderr } = spawnSync(process.execPath, args, {
      env,
      cwd: tmpdir(),
      encoding: 'utf8',
      timeout: 15_000,
    });
    expect(status).toBe(2);
    expect(stderr).toMatch(/client/);
  });

  it('listens on loopback only when nothing is said', () => {
    const loaded = loadConfig({ file: null, overrides: {}, env: {} });
    if (loaded.kind !== 'config') throw new Error('the empty configuration has problems');
    expect(loaded.config.listeners.map(({ at }) => at.host)).toEqual(['127.0.0.1']);
    expect(loaded.config.admin?.host).toBe('127.0.0.1');
  });

  it('asks everybody for a login once it is reachable from outside', async () => {
    const gateway = await stage.gateway([await stage.good('ok')], {
      listen: { proxy: '0.0.0.0:0', admin: '127.0.0.1:0' },
      clients: [{ name: 'crawler', password: 'pw' }],
    });
    for (const host of ['127.0.0.1', ...(external === undefined ? [] : [external])]) {
      const client = await RawClient.connect(gateway.port, host);
      client.write(headFor(page));
      expect(answerOf(await client.answer()).status).toBe(407);
      client.destroy();
    }
    if (external !== undefined)
      await expect(RawClient.connect(gateway.adminPort, external)).rejects.toThrow();
  });
});
