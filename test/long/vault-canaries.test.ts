/**
 * K1, K16: what is given to the vault is nowhere else. A thousand secrets go through a walk of the API and the proxy with
 * faults provoked; then every byte that the gateway wrote is looked through for them.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemBytes } from '../../src/core/random.js';
import { askAdmin, type AdminAnswer, type AdminAsk } from '../support/admin.js';
import { startRedis, type RealRedis } from '../support/real-redis.js';
import { startServe, type ServeProcess } from '../support/serve-process.js';
import { waitFor } from '../support/wait.js';

const canary = (what: string): string => `CANARY${what}${systemBytes(12).toString('hex')}`;
const adminToken = canary('admintoken');
const crawlerToken = canary('crawlertoken');
const clientPassword = canary('clientpassword');
const hookSecret = canary('hooksecret');
const clusterSecret = canary('clustersecret');
const rootKey = systemBytes(32);

/** 250 secrets of each type, each with a canary in it. */
const credentials = Array.from({ length: 1000 }, (_, index) => {
  const type =
    (['username_password', 'api_key', 'cookie_string', 'oauth2_token'] as const)[index % 4] ?? 'api_key';
  const said = canary(`s${index}x`);
  const secret = {
    username_password: { username: `u${index}`, password: said },
    api_key: said,
    cookie_string: `sid=${said}; a=b`,
    oauth2_token: { access_token: said, refresh_token: canary(`r${index}x`) },
  }[type];
  return { key: `key-${index}`, type, secret, meta: { group: 'shop' } };
});
const seen: { readonly what: string; readonly text: string }[] = [];
let folder = '';
let redis: RealRedis;
let monitor: ChildProcess;
let monitored = '';
let serve: ServeProcess;
let hook: http.Server;

/** Writes a secret where only the configuration's reference leads. */
function kept(name: string, text: string): string {
  writeFileSync(join(folder, 'keys', name), text, { mode: 0o600 });
  return `file:${join(folder, 'keys', name)}`;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-canaries-'));
  mkdirSync(join(folder, 'keys'));
  mkdirSync(join(folder, 'data'));
  redis = await startRedis();
  monitor = spawn('redis-cli', ['-p', String(redis.port), 'monitor'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  monitor.stdout?.on('data', (piece: Buffer) => (monitored += piece.toString('latin1')));
  await waitFor('the monitor', () => monitored.includes('OK'));
  hook = http.createServer((request, response) => {
    request.on('data', (piece: Buffer) => seen.push({ what: 'webhook', text: piece.toString() }));
    seen.push({ what: 'webhook', text: JSON.stringify(request.headers) });
    response.writeHead(500).end();
  });
  await new Promise<void>((done) => hook.listen(0, '127.0.0.1', done));
  const { port } = hook.address() as AddressInfo;
  serve = await startServe([`http://u:${clientPassword}@127.0.0.1:9`], {
    admin: {
      tokens: [
        { name: 'ops', token: kept('admin', adminToken), scopes: ['admin'] },
        { name: 'crawler', token: kept('crawler', crawlerToken), scopes: ['tokens'] },
      ],
    },
    clients: [{ name: 'alice', password: kept('client', clientPassword) }],
    vault: { key: kept('root', rootKey.toString('base64')) },
    storage: { kind: 'sqlite', path: join(folder, 'data', 'turnpike.db') },
    audit: { file: join(folder, 'data', 'audit.log') },
    alerts: {
      min_active: 100,
      webhooks: [
        {
          ...{ name: 'ops', url: `http://127.0.0.1:${port}/`, secret: kept('hook', hookSecret) },
          allow: `127.0.0.1:${port}`,
        },
      ],
    },
    state: { kind: 'redis', url: `redis://127.0.0.1:${redis.port}`, secret: kept('cluster', clusterSecret) },
    log: { file: join(folder, 'data', 'turnpike.log'), level: 'debug' },
    pools: { main: { upstreams: [{ url: 'http://127.0.0.1:9', credential: 'vault:key-0' }] } },
  });
}, 120_000);
afterAll(async () => {
  await serve.close();
  monitor.kill();
  await redis.close();
  hook.close();
  rmSync(folder, { recursive: true });
});

/** Asks the API and keeps the answer among what is looked through. */
async function asked(route: string, ask: AdminAsk = {}): Promise<AdminAnswer> {
  const [method = '', path = ''] = route.split(' ');
  const answer = await askAdmin(Number(new URL(serve.admin).port), path, {
    method,
    token: adminToken,
    ...ask,
  });
  // What redeem answers is what it is for.
  if (!(path.endsWith('/redeem') && answer.status === 200))
    seen.push({ what: route, text: JSON.stringify(answer.headers) + answer.text });
  return answer;
}

/** A request through the proxy port; whatever comes. */
function proxied(login: string): Promise<void> {
  return new Promise((done) => {
    const request = http.get({
      ...{ host: '127.0.0.1', port: serve.port, path: 'http://shop.example/', agent: false },
      headers: { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` },
    });
    request.on('error', () => done());
    request.on('response', (answer) => {
      let text = JSON.stringify(answer.headers);
      answer.on('data', (piece: Buffer) => (text += piece.toString()));
      answer.on('close', () => {
        seen.push({ what: 'proxy', text });
        done();
      });
    });
  });
}

async function walk(): Promise<string[]> {
  const v1 = '/api/v1';
  for (const body of credentials.slice(0, 700))
    expect((await asked(`POST ${v1}/credentials`, { body })).status).toBe(201);
  const lines = credentials.slice(700).map((each) => JSON.stringify(each));
  const imported = await asked(`POST ${v1}/credentials/import`, {
    ...{ body: lines.join('\n'), headers: { 'content-type': 'application/jsonl' } },
  });
  seen.push({ what: 'import', text: imported.text });
  const issued: string[] = [];
  for (const type of ['username_password', 'api_key', 'cookie_string', 'oauth2_token']) {
    const body = { name: type, credential_type: type, filters: { 'meta.group': 'shop' } };
    expect((await asked(`POST ${v1}/policies`, { body })).status).toBe(201);
    for (let n = 0; n < 20; n++) {
      const crawler = { token: crawlerToken };
      const taken = await asked(`POST ${v1}/tokens/acquire`, { ...crawler, body: { policy_name: type } });
      expect(taken.status).toBe(200);
      const { token_id: token } = taken.body as { token_id: string };
      issued.push(token);
      // The answer of acquire shows the token, which is what it is for.
      seen.pop();
      const redeemed = await asked(`POST ${v1}/tokens/redeem`, { ...crawler, body: { token_id: token } });
      expect(redeemed.text).toContain('CANARY');
      const end = n % 2 === 0 ? 'release' : 'consume';
      await asked(`POST ${v1}/tokens/${end}`, { ...crawler, body: { token_id: token } });
      await asked(`POST ${v1}/tokens/redeem`, { ...crawler, body: { token_id: token } });
    }
  }
  return issued;
}

/** Secrets where they don't belong, in every way that people get it wrong. */
async function provoke(): Promise<void> {
  const v1 = '/api/v1';
  const [first] = credentials;
  const secret = typeof credentials[1]?.secret === 'string' ? credentials[1].secret : '';
  const bodies: unknown[] = [
    ...[first, { ...first, extra: secret }, { ...first, key: 'new', secret: [secret] }],
    ...[
      { ...first, key: 'new', type: 'api_key', secret: `${secret}\n` },
      { type: secret, key: secret },
    ],
    ...[`{"key":"x","secret":"${secret}"`, secret, { key: 'a', secret }],
  ];
  for (const body of bodies) {
    await asked(`POST ${v1}/credentials`, { body });
    await asked(`PATCH ${v1}/credentials/key-3`, { body });
    await asked(`POST ${v1}/tokens/redeem`, { body, token: crawlerToken });
    await asked(`POST ${v1}/credentials/import`, { body, headers: { 'content-type': 'text/csv' } });
  }
  expect((await asked(`POST ${v1}/credentials/key-5/ban`, { body: { reason: 'test' } })).status).toBe(200);
  await asked(`GET ${v1}/credentials`, { token: `${adminToken}x` });
  await asked(`GET ${v1}/credentials`, { token: crawlerToken });
  for (const login of [`alice:${clientPassword}`, `alice:${clientPassword}x`, `${clientPassword}:x`])
    await proxied(login);
  for (const path of [
    '/credentials',
    '/policies',
    '/audit',
    '/tokens',
    '/keys',
    '/status',
    '/upstreams',
    '/cluster',
  ])
    await asked(`GET ${v1}${path}`);
  for (const path of ['/metrics', '/readyz', '/healthz', '/api/v1/openapi.json']) await asked(`GET ${path}`);
}

/** Every file below a folder, but those that hold the secrets for the configuration. */
function filesBelow(path: string): string[] {
  return readdirSync(path).flatMap((name) => {
    const each = join(path, name);
    if (statSync(each).isDirectory()) return name === 'keys' ? [] : filesBelow(each);
    return [each];
  });
}

describe('K1 K16 a thousand secrets', () => {
  it('are found nowhere', { timeout: 300_000 }, async () => {
    const issued = await walk();
    await provoke();
    const cli = resolve(import.meta.dirname, '../../dist/cli/main.js');
    const config = readFileSync(`/proc/${serve.pid}/cmdline`, 'utf8')
      .split('\0')
      .find((each) => each.endsWith('.yaml'));
    execFileSync(process.execPath, [
      cli,
      'vault',
      'backup',
      '--config',
      config ?? '',
      join(folder, 'data', 'backup.db'),
    ]);
    await waitFor('an alert', () => seen.some(({ what }) => what === 'webhook'));
    seen.push({ what: 'cmdline', text: readFileSync(`/proc/${serve.pid}/cmdline`, 'latin1') });
    seen.push({ what: 'environ', text: readFileSync(`/proc/${serve.pid}/environ`, 'latin1') });
    seen.push({ what: 'stderr', text: serve.stderr() });
    seen.push({ what: 'redis', text: monitored });
    for (const file of filesBelow(folder)) seen.push({ what: file, text: readFileSync(file, 'latin1') });
    const secrets = [
      rootKey.toString('base64'),
      rootKey.toString('hex'),
      rootKey.toString('latin1'),
      ...issued,
    ];
    const found = seen.flatMap(({ what, text }) => {
      const marks = /CANARY[0-9A-Za-z]{8,}/.exec(text)?.slice(0, 1) ?? [];
      const encoded = /Q0FOQVJ[ZS]|NBTkFSW|DQU5BUl|43414e415259/i.exec(text)?.slice(0, 1) ?? [];
      return [...marks, ...encoded, ...secrets.filter((each) => text.includes(each))].map(
        (each) => `${what}: ${each}`,
      );
    });
    const sizes = seen.reduce((sum, { text }) => sum + text.length, 0);
    const names = filesBelow(folder).map((file) => file.split('/').at(-1));
    expect(names).toEqual(expect.arrayContaining(['audit.log', 'backup.db', 'turnpike.db', 'turnpike.log']));
    expect(sizes).toBeGreaterThan(1_000_000);
    expect([...new Set(found)]).toEqual([]);
  });
});
