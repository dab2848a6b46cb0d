/**
 * K9: clients of the proxy port that are kept in the database, made by the API, on HTTP, CONNECT and SOCKS; two gateways over
 * one database; guessing; the database away.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminSection, askAdmin, tokens, type AdminAnswer, type AdminAsk } from '../support/admin.js';
import { ask, connect } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { openKeptStorage, type KeptStorage } from '../support/kept-storage.js';
import { login } from '../support/rig.js';
import { askSocks } from '../support/socks-client.js';
import { createStage } from '../support/stage.js';
import { eventually } from '../support/wait.js';

const stage = createStage();
const page = 'http://site.example/';
const authority = 'site.example:443';
const password = 'correct-horse';
let kept: KeptStorage;

beforeAll(async () => {
  kept = await openKeptStorage();
});
afterAll(() => kept.close());

async function gatewayOf(config: Record<string, unknown> = {}): Promise<TestGateway> {
  const clients = [{ name: 'own', password: 'own-password' }];
  const parts = { storage: kept.storage };
  return stage.gateway([await stage.good('exit')], { admin: adminSection, clients, ...config }, { parts });
}

const api = (gateway: TestGateway, path: string, rest: AdminAsk = {}): Promise<AdminAnswer> =>
  askAdmin(gateway.adminPort, `/api/v1/clients${path}`, rest);

async function store(gateway: TestGateway, name: string, more: Record<string, unknown> = {}): Promise<void> {
  const made = await api(gateway, '', { method: 'POST', body: { name, password, ...more } });
  expect(made.status, made.text).toBe(201);
}

const statusAs = async (gateway: TestGateway, name: string, secret = password): Promise<number> =>
  (await ask(gateway, page, { fields: [login(name, secret)] })).status;

describe('K9 a client that is stored by the API', () => {
  it('comes in by GET, CONNECT and SOCKS5, and gives feedback; each change is audited', async () => {
    const gateway = await gatewayOf();
    await store(gateway, 'bulk', { limits: { tunnels: 5 }, tags: 'cheap' });
    expect(await statusAs(gateway, 'bulk+session=a')).toBe(200);
    const tunnel = await connect(gateway, authority, { fields: [login('bulk', password)] });
    expect(tunnel.answer.status).toBe(200);
    tunnel.client.destroy();
    const by = { username: 'bulk+session=b', password };
    const socks = await askSocks(gateway.port, { host: 'site.example', port: 443, login: by });
    expect([socks.loginStatus, socks.reply]).toEqual([0, 0]);
    socks.client.destroy();
    const wrong = await askSocks(gateway.port, { login: { username: 'bulk', password: 'wrong' } });
    expect(wrong.loginStatus).toBe(1);
    const said = await askAdmin(gateway.adminPort, '/api/v1/feedback', {
      ...{
        method: 'POST',
        token: null,
        body: { requestId: tunnel.answer.field('x-turnpike-request-id'), verdict: 'blocked' },
      },
      headers: { authorization: login('bulk', password).slice('Proxy-Authorization: '.length) },
    });
    expect(said.status, said.text).toBe(200);
    expect((await gateway.event('exchange_ended', ({ client }) => client === 'bulk')).end).toBe('complete');
    const entry = kept.audited.find(({ action }) => action === 'client.create');
    expect(entry).toMatchObject({ actor: 'admin', address: '127.0.0.1', outcome: 'ok' });
    expect(entry?.detail).toEqual({ client: 'bulk', password: 'new', settings: ['tags', 'limits'] });
    expect(JSON.stringify(kept.audited)).not.toContain(password);
    expect(await gateway.metrics()).toContain('turnpike_login_checks_total{outcome="right"} 1');
  });

  it('is shown, replaced and removed; its tunnels are cut, on every gateway', async () => {
    const gateway = await gatewayOf();
    const other = await gatewayOf();
    await store(gateway, 'short');
    await eventually('the other gateway to know it', async () => (await statusAs(other, 'short')) === 200);
    const shown = await api(gateway, '/short');
    expect(shown.body).toMatchObject({ name: 'short', source: 'storage', login: 'password' });
    expect(shown.text).not.toContain('scrypt');
    const list = await api(gateway, '');
    expect(
      list.body.items.map(({ name, source }: { name: string; source: string }) => `${name} ${source}`),
    ).toEqual(expect.arrayContaining(['own configuration', 'short storage']));
    const change = { method: 'PUT', body: { password: 'another-password', targets: ['site.example'] } };
    expect((await api(gateway, '/short', change)).status).toBe(200);
    expect([await statusAs(gateway, 'short'), await statusAs(gateway, 'short', 'another-password')]).toEqual([
      407, 200,
    ]);
    await eventually(
      'the other gateway to know the password',
      async () => (await statusAs(other, 'short')) === 407,
    );
    const tunnel = await connect(other, authority, { fields: [login('short', 'another-password')] });
    expect(tunnel.answer.status).toBe(200);
    expect((await api(gateway, '/short', { method: 'DELETE' })).body).toEqual({
      name: 'short',
      state: 'removed',
    });
    expect(await statusAs(gateway, 'short', 'another-password')).toBe(407);
    const cut = await other.event(
      'exchange_ended',
      ({ kind, client }) => kind === 'tunnel' && client === 'short',
    );
    expect(cut.end).toBe('cut_by_policy');
    tunnel.client.destroy();
    expect((await api(gateway, '/short')).status).toBe(404);
  });

  it('may not take a name of the configuration, nor be wrong, nor be made by whoever reads', async () => {
    const gateway = await gatewayOf();
    const post = (body: unknown, token: string = tokens.admin) =>
      api(gateway, '', { method: 'POST', body, token });
    expect(await post({ name: 'own', password })).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect((await api(gateway, '/own', { method: 'DELETE' })).status).toBe(409);
    await store(gateway, 'twice');
    expect(await post({ name: 'twice', password })).toMatchObject({ status: 409, body: { code: 'exists' } });
    const wrong = await post({ name: 'bad', password, limits: { requests: 'many' } });
    expect(wrong).toMatchObject({ status: 422, body: { code: 'impossible' } });
    expect(wrong.body.detail).toContain('limits.requests: expected');
    expect((await post({ name: 'bad' })).body.detail).toContain('needs a password, or allow_from');
    expect((await post({ name: 'bad', password: 'short' })).status).toBe(422);
    expect((await post({ name: 'bad', password }, tokens.operator)).status).toBe(403);
    kept.mood.audit = 'fails';
    expect(await post({ name: 'unseen', password })).toMatchObject({
      status: 503,
      body: { code: 'audit_unavailable' },
    });
    kept.mood.audit = 'takes';
    expect((await api(gateway, '/unseen')).status).toBe(404);
  });
});

describe('G6 guessing at stored clients', () => {
  it('is held at ten hashes from one address, while clients that are known go on', async () => {
    const gateway = await gatewayOf();
    await store(gateway, 'victim');
    expect([await statusAs(gateway, 'victim'), await statusAs(gateway, 'own', 'own-password')]).toEqual([
      200, 200,
    ]);
    const guesses = Array.from({ length: 300 }, (_, n) => statusAs(gateway, 'victim', `guess-${n}`));
    const served = Array.from({ length: 100 }, (_, n) =>
      n % 2 === 0 ? statusAs(gateway, 'victim') : statusAs(gateway, 'own', 'own-password'),
    );
    expect(new Set(await Promise.all(served))).toEqual(new Set([200]));
    // 503: too many wait for a hash.
    expect((await Promise.all(guesses)).every((status) => status === 407 || status === 503)).toBe(true);
    const metrics = await gateway.metrics();
    expect(Number(/login_checks_total\{outcome="wrong"\} (\d+)/.exec(metrics)?.[1])).toBeLessThanOrEqual(11);
  });
});

describe('K9 while the database is away', () => {
  it('those that were read go on; the API says so', async () => {
    const gateway = await gatewayOf();
    await store(gateway, 'steady');
    kept.mood.storage = 'away';
    expect([await statusAs(gateway, 'steady'), await statusAs(gateway, 'own', 'own-password')]).toEqual([
      200, 200,
    ]);
    expect(await api(gateway, '', { method: 'POST', body: { name: 'more', password } })).toMatchObject({
      ...{ status: 503, body: { code: 'storage_away' } },
    });
    kept.mood.storage = 'there';
  });

  it('at the start nobody who may be stored is refused for good, and they come by themselves', async () => {
    const first = await gatewayOf();
    await store(first, 'early');
    kept.mood.storage = 'away';
    const gateway = await gatewayOf();
    const answer = await ask(gateway, page, { fields: [login('early', password)] });
    expect([answer.status, answer.problem().code]).toEqual([503, 'login_unchecked']);
    expect(answer.field('retry-after')).toBe('1');
    expect(await statusAs(gateway, 'own', 'own-password')).toBe(200);
    const ready = await askAdmin(gateway.adminPort, '/readyz', { token: null });
    expect(ready.body).toMatchObject({ storedClients: 'unread' });
    kept.mood.storage = 'there';
    await eventually('the stored clients to be read', async () => (await statusAs(gateway, 'early')) === 200);
  });
});
