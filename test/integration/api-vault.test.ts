/** Credentials, policies and tokens by the API: what is off, sealed, repeated, foreign or malformed. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isWithin, routeNeeds, scopes } from '../../src/admin/scopes.js';
import { adminSection, askAdmin, tokens } from '../support/admin.js';
import { ask } from '../support/ask.js';
import { createStage } from '../support/stage.js';
import { startVaulted, vaultPlace, type VaultedGateway, type VaultPlace } from '../support/vaulted.js';

const stage = createStage();
const placed = (): VaultPlace => stage.keep(vaultPlace());
const vaulted = async (place = placed()): Promise<VaultedGateway> => stage.keep(await startVaulted(place));

const account = (key: string, more: object = {}) => ({
  ...{ type: 'cookie_string', key, secret: `sessionid=CANARY-${key}`, meta: { group: 'shop' } },
  ...more,
});
const policy = (name: string, more: object = {}) => ({
  ...{ name, credential_type: 'cookie_string', filters: { 'meta.group': 'shop' } },
  ...more,
});

async function stocked(keys: readonly string[] = ['a1'], place = placed()): Promise<VaultedGateway> {
  const started = await vaulted(place);
  for (const key of keys) expect((await started.admin('POST /credentials', account(key))).status).toBe(201);
  expect((await started.admin('POST /policies', policy('shop'))).status).toBe(201);
  return started;
}

const acquire = ({ crawler }: VaultedGateway) => crawler('POST /tokens/acquire', { policy_name: 'shop' });

describe('K1 without a vault', () => {
  it('all says so, and no database is made', async () => {
    const gateway = await stage.gateway([], { admin: adminSection });
    const isOfVault = (path: string): boolean => /credentials|policies|tokens|audit|keys|vault/.test(path);
    const paths = Object.keys(routeNeeds).filter((route) => route.startsWith('GET ') && isOfVault(route));
    expect(paths.length).toBeGreaterThan(5);
    for (const route of paths) {
      const path = route.slice('GET '.length).replace(/:\w+/, 'none');
      const answer = await askAdmin(gateway.adminPort, path);
      expect([answer.status, answer.body.code], route).toEqual([503, 'vault_off']);
      expect(answer.headers['retry-after']).toBe('60');
      expect(answer.body.detail).toMatch(/TURNPIKE_VAULT_KEY/);
    }
    const ready = await askAdmin(gateway.adminPort, '/readyz', { token: null });
    expect([ready.status, ready.body]).toMatchObject([200, { vault: 'off', storage: 'off' }]);
    expect((await askAdmin(gateway.adminPort, '/api/v1/status')).body).toMatchObject({ vault: 'off' });
    expect(existsSync('data/turnpike.db')).toBe(false);
  });
});

describe('K1 K16 a vault with another key', () => {
  it('is sealed: the API says so, the proxy port serves, and the right key opens it', async () => {
    const place = placed();
    const first = await stocked(['a1'], place);
    const token = (await acquire(first)).body.token_id;
    await first.close();
    const keyFile = join(place.folder, 'root.key');
    const write = (key: string): void => writeFileSync(keyFile, key, { mode: 0o600 });
    write(Buffer.alloc(32, 7).toString('base64'));
    const exit = await stage.good('good');
    const config = { vault: { key: `file:${keyFile}` } };
    const second = stage.keep(await startVaulted(place, { upstreams: [exit.url], config }));
    for (const [route, body] of [
      ['POST /tokens/redeem', { token_id: token }],
      ['POST /tokens/acquire', { policy_name: 'shop' }],
      ['POST /credentials', account('a2')],
      ['POST /vault/unseal', undefined],
    ] as const) {
      const answer = await second.admin(route, body);
      expect([answer.status, answer.body.code], route).toEqual([503, 'vault_sealed']);
      expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    }
    expect((await second.admin('GET /credentials')).body.items).toHaveLength(1);
    expect((await askAdmin(second.gateway.adminPort, '/readyz')).body).toMatchObject({ vault: 'sealed' });
    expect(await second.gateway.metrics()).toMatch(/^turnpike_vault_open 0$/m);
    expect((await ask(second.gateway, 'http://site.example/')).status).toBe(200);
    write(place.key);
    expect((await second.admin('POST /vault/unseal')).body).toEqual({ state: 'open' });
    expect((await second.crawler('POST /tokens/redeem', { token_id: token })).body.secret).toContain(
      'CANARY-a1',
    );
    expect((await ask(second.gateway, 'http://site.example/')).status).toBe(200);
  });
});

describe('K8 Idempotency-Key', () => {
  it('makes once, and says what is another request', async () => {
    const { admin } = await vaulted();
    const once = { 'idempotency-key': 'k-1' };
    const first = await admin('POST /credentials', account('a1'), once);
    const again = await admin('POST /credentials', account('a1'), once);
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    const other = await admin('POST /credentials', account('a2'), once);
    expect([other.status, other.body.code]).toEqual([422, 'once_differs']);
    const without = await admin('POST /credentials', account('a1'));
    expect([without.status, without.body.code]).toEqual([409, 'exists']);
    expect((await admin('POST /policies', policy('p'), once)).status).toBe(201);
    expect((await admin('GET /credentials')).body.items).toHaveLength(1);
    const bad = await admin('POST /credentials', account('a3'), { 'idempotency-key': 'x'.repeat(256) });
    expect(bad.status).toBe(400);
  });
});

describe('K4 K5 tokens', () => {
  it('are good for whoever acquired them, in the body or in a field', async () => {
    const place = placed();
    const others = { name: 'other', token: 'another-token-0123456789', scopes: ['tokens'] };
    const admin = { tokens: [...adminSection.tokens, others] };
    const started = stage.keep(await startVaulted(place, { config: { admin } }));
    await started.admin('POST /credentials', account('a1'));
    await started.admin('POST /policies', policy('shop', { constraints: { single_use: true } }));
    const taken = await acquire(started);
    expect(taken.status).toBe(200);
    expect(Object.keys(taken.body).sort()).toEqual([
      ...[
        'credential_key',
        'expires_at',
        'expires_in',
        'policy_id',
        'policy_name',
        'remaining_uses',
        'token_id',
      ],
    ]);
    expect(taken.text).not.toContain('CANARY');
    const field = { 'x-gatekeeper-token': taken.body.token_id };
    for (const word of ['redeem', 'release', 'consume', 'report']) {
      const answer = await askAdmin(started.gateway.adminPort, `/api/v1/tokens/${word}`, {
        ...{ method: 'POST', token: others.token, headers: field },
        ...(word === 'report' && { body: { outcome: 'ok' } }),
      });
      expect([answer.status, answer.body.code], word).toEqual([404, 'token_unknown']);
    }
    const redeemed = await started.crawler('POST /tokens/redeem', undefined, field);
    expect([redeemed.status, redeemed.body.secret]).toEqual([200, 'sessionid=CANARY-a1']);
    const again = await started.crawler('POST /tokens/redeem', undefined, field);
    expect([again.status, again.body.code]).toEqual([410, 'token_ended']);
    expect((await started.crawler('POST /tokens/redeem')).body.code).toBe('malformed');
  });

  it('K17 work over TLS', async () => {
    const place = placed();
    const [cert, key] = [join(place.folder, 'admin.pem'), join(place.folder, 'admin-key.pem')];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    execFileSync('openssl', ['req', '-x509', ...kind, '-keyout', key, '-out', cert, ...subject], {
      stdio: 'ignore',
    });
    await (await stocked(['a1'], place)).close();
    const config = { admin: { ...adminSection, tls: { cert, key } } };
    const { gateway } = stage.keep(await startVaulted(place, { config }));
    const text = await new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer ${tokens.tokens}`, 'content-type': 'application/json' };
      const at = {
        host: 'localhost',
        family: 4,
        port: gateway.adminPort,
        path: '/api/v1/tokens/acquire',
      } as const;
      const options = { ...at, method: 'POST', headers, agent: false, ca: readFileSync(cert) } as const;
      const request = https.request(options, (answer) => {
        let body = '';
        answer.on('data', (chunk: Buffer) => (body += chunk.toString())).on('end', () => resolve(body));
      });
      request.once('error', reject);
      request.end(JSON.stringify({ policy_name: 'shop' }));
    });
    expect(JSON.parse(text)).toMatchObject({
      credential_key: 'a1',
      token_id: expect.stringMatching(/^tpk_/),
    });
  });

  it('say why there is none', async () => {
    const started = await stocked(['a1']);
    const codeOf = async (): Promise<unknown[]> => {
      const { status, body, headers } = await acquire(started);
      return [status, body.code, headers['retry-after'] !== undefined];
    };
    expect((await started.crawler('POST /tokens/acquire', { policy_name: 'none' })).status).toBe(404);
    expect((await acquire(started)).status).toBe(200);
    expect(await codeOf()).toEqual([429, 'none_free', true]);
    await started.admin('POST /credentials/a1/ban', {});
    expect(await codeOf()).toEqual([409, 'none_usable', false]);
    await started.admin('PUT /policies/shop', policy('shop', { constraints: { rate_limit: '1/hour' } }));
    await started.admin('POST /credentials', account('b1'));
    expect((await acquire(started)).status).toBe(200);
    await started.admin('POST /credentials', account('b2'));
    expect(await codeOf()).toEqual([429, 'limited', true]);
  });
});

describe('G9 N14 with a vault', () => {
  it('every route is for its scope and those above it, and answers what the table of problems has', async () => {
    const { gateway } = await vaulted();
    const routes = Object.entries(routeNeeds).filter(([, need]) => need !== 'open' && need !== 'metrics');
    for (const [route, need] of routes) {
      const [method = '', path = ''] = route.split(' ');
      if (path.endsWith('/events') || route === 'POST /api/v1/keys/rotate') continue;
      for (const scope of scopes) {
        const at = path.replace(/:\w+/g, 'none');
        const { status } = await askAdmin(gateway.adminPort, at, { method, token: tokens[scope] });
        const isAllowed = isWithin([scope], need as (typeof scopes)[number]);
        if (isAllowed) expect([200, 400, 404, 409, 415], `${route} as ${scope}`).toContain(status);
        else expect(status, `${route} as ${scope}`).toBe(403);
      }
    }
  });
});

const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
const sql = "'; drop table credentials; -- \u0000";

describe('bad bodies', () => {
  const bodies: readonly (readonly [string, unknown])[] = [
    ['__proto__', '{"__proto__":{"admin":true},"key":"k","type":"api_key","secret":"s"}'],
    ['constructor', '{"constructor":{"prototype":{"a":1}},"key":"k","type":"api_key","secret":"s"}'],
    ['__proto__ in meta', '{"meta":{"__proto__":{"a":1}},"key":"k","type":"api_key","secret":"s"}'],
    ['depth in meta', `{"meta":${deep},"key":"k","type":"api_key","secret":"s"}`],
    ['an unknown field', { ...account('k'), admin: true }],
    ['SQL as a key', account(sql)],
    ['SQL as a type', { ...account('k'), type: sql }],
    ['an empty secret', { ...account('k'), secret: '' }],
    ['a list as secret', { ...account('k'), secret: [] }],
    ['too much', { ...account('k'), secret: 'x'.repeat(70_000) }],
    ['a long key', account('k'.repeat(500))],
    ['null', 'null'],
    ['a status of nobody', { ...account('k'), status: 'x' }],
  ];

  it('are refused by every route that takes one, and nothing is changed', async () => {
    const { gateway, admin } = await stocked(['a1']);
    const takers = Object.entries(routeNeeds)
      .map(([route]) => route.split(' ') as [string, string])
      .filter(
        ([method, path]) => /credentials|policies|tokens|keys/.test(path) && /POST|PUT|PATCH/.test(method),
      )
      .filter(([, path]) => !path.endsWith('/import'));
    expect(takers.length).toBeGreaterThan(10);
    for (const [method, path] of takers) {
      for (const [what, body] of bodies) {
        if (body === 'null' && !path.endsWith('/credentials')) continue;
        const at = path.replace(':key', 'a1').replace(':name', 'shop');
        const answer = await askAdmin(gateway.adminPort, at, { method, body });
        const said = `${method} ${path} ${what}: ${answer.text}`;
        expect([400, 404, 413, 422], said).toContain(answer.status);
        expect(answer.body.code, said).toEqual(expect.any(String));
        expect(answer.text).not.toContain('CANARY');
      }
    }
    expect((await admin('GET /credentials')).body.items.map(({ key }: { key: string }) => key)).toEqual([
      'a1',
    ]);
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it('text that looks like SQL is kept and found as text', async () => {
    const { admin } = await vaulted();
    const odd = `o'brien"; drop table credentials; --`;
    const made = await admin('POST /credentials', account('k', { meta: { note: odd } }));
    expect(made.status, made.text).toBe(201);
    expect((await admin('GET /credentials/k')).body.meta).toEqual({ note: odd });
    expect((await admin(`GET /credentials/${encodeURIComponent(odd)}`)).status).toBe(404);
    for (const query of [
      `credential=${encodeURIComponent(odd)}`,
      `actor=${encodeURIComponent("' or 1=1 --")}`,
    ])
      expect((await admin(`GET /audit?${query}`)).status).toBe(200);
    expect((await admin(`GET /audit?actor=${encodeURIComponent("' or 1=1 --")}`)).body.items).toEqual([]);
  });
});
