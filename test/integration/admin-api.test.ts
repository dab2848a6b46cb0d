/** The admin API by real requests: who may what, and what comes of bad ones. */
import { describe, expect, it } from 'vitest';
import { isWithin, routeNeeds, scopes } from '../../src/admin/scopes.js';
import { adminSection, askAdmin, exitsOf, tokens, type AdminAnswer } from '../support/admin.js';
import { ask } from '../support/ask.js';
import { createStage } from '../support/stage.js';
import type { TestGateway } from '../support/gateway.js';

const stage = createStage();
const withApi = (exits: string[] = [], more: Record<string, unknown> = {}): Promise<TestGateway> =>
  stage.gateway(exits, { admin: adminSection, ...more });

/** Routes of the table with parameters filled in by what does not exist. */
const routes = Object.entries(routeNeeds).map(([route, need]) => {
  const [method = '', path = ''] = route.split(' ');
  return { route, method, need, path: path.replace(/:\w+/g, 'none') };
});
const guarded = routes.filter(({ need }) => need !== 'open' && need !== 'metrics');

describe('G9 N14 scopes', () => {
  it('every route wants a token', async () => {
    const { adminPort } = await withApi();
    for (const { route, method, path } of guarded) {
      for (const token of [
        null,
        '',
        'x',
        `${tokens.admin}x`,
        tokens.admin.slice(0, -1),
        'x'.repeat(65_536),
      ]) {
        const answer = await askAdmin(adminPort, path, { method, token });
        expect(answer.status, route).toBe(401);
        expect(answer.headers['www-authenticate'], route).toMatch(/^Bearer realm=/);
        expect(answer.headers['content-type']).toBe('application/problem+json');
      }
    }
  });

  it('every route is for its scope and those above it', async () => {
    const { adminPort } = await withApi();
    for (const { route, method, path, need } of guarded) {
      if (path.endsWith('/events')) continue;
      for (const scope of scopes) {
        const { status } = await askAdmin(adminPort, path, { method, token: tokens[scope] });
        const isAllowed = isWithin([scope], need as (typeof scopes)[number]);
        if (isAllowed) expect([200, 400, 404, 409, 415, 503], `${route} as ${scope}`).toContain(status);
        else expect(status, `${route} as ${scope}`).toBe(403);
      }
    }
  });

  it('metrics are read from here without a token, unless they want one', async () => {
    const plain = await withApi();
    for (const path of ['/metrics', '/healthz', '/readyz'])
      expect((await askAdmin(plain.adminPort, path, { token: null })).status).toBe(200);
    const strict = await withApi([], { admin: { ...adminSection, metrics: 'token' } });
    expect((await askAdmin(strict.adminPort, '/metrics', { token: null })).status).toBe(401);
    expect((await askAdmin(strict.adminPort, '/metrics', { token: tokens.read })).status).toBe(200);
    expect((await askAdmin(strict.adminPort, '/readyz', { token: null })).status).toBe(200);
  });

  it('what there is not is told only to those who may look', async () => {
    const { adminPort } = await withApi();
    expect((await askAdmin(adminPort, '/api/v1/nothing', { token: null })).status).toBe(401);
    expect((await askAdmin(adminPort, '/api/v1/nothing', { token: tokens.read })).status).toBe(404);
    expect((await askAdmin(adminPort, '/api/v1/pools', { method: 'PUT' })).status).toBe(405);
  });

  it('a foreign Host is refused, whatever the token', async () => {
    const { adminPort } = await withApi();
    for (const { method, path } of routes) {
      const answer = await askAdmin(adminPort, path, { method, headers: { host: 'evil.example' } });
      expect(answer.status, path).toBe(421);
    }
  });

  it('all routes are described, with their scopes', async () => {
    const { adminPort } = await withApi();
    const { body } = await askAdmin(adminPort, '/api/v1/openapi.json', { token: tokens.read });
    const described = Object.entries(
      body.paths as Record<string, Record<string, { description?: string }>>,
    ).flatMap(([path, item]) =>
      Object.entries(item).map(([method, { description }]) => [
        `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
        description,
      ]),
    );
    expect(described).toEqual(
      expect.arrayContaining(guarded.map(({ route, need }) => [route, `Scope: ${need}.`])),
    );
  });
});

describe('bad requests', () => {
  const bodies: [string, string][] = [
    ['no JSON', '{'],
    ['__proto__', '{"__proto__":{"a":1},"exit":"u-a","reason":"x"}'],
    ['constructor', '{"constructor":{"prototype":{"a":1}},"exit":"u-a","reason":"x"}'],
    ['an unknown field', '{"exit":"u-a","reason":"x","admin":true}'],
    ['wrong types', '{"exit":1,"reason":[]}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['text', '"x"'],
    ['nothing', ''],
    ['control characters', '{"exit":"u-a","reason":"a\\u001b[2J"}'],
    ['a long time', '{"exit":"u-a","reason":"x","ttl":"99999d"}'],
    ['depth', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ];

  it.each(bodies)('%s is a problem', async (_what, body) => {
    const { adminPort } = await withApi();
    for (const path of ['/api/v1/bans', '/api/v1/upstreams']) {
      const answer = await askAdmin(adminPort, path, { method: 'POST', body });
      expect(answer.status).toBe(400);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(answer.body).toMatchObject({
        status: 400,
        title: expect.any(String),
        detail: expect.any(String),
      });
    }
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
  });

  it('too much, or of another type, is a problem', async () => {
    const { adminPort } = await withApi();
    const huge = JSON.stringify({ exit: 'u-a', reason: 'x'.repeat(100_000) });
    const post = (body: string, type: string) =>
      askAdmin(adminPort, '/api/v1/bans', { method: 'POST', body, headers: { 'content-type': type } });
    expect((await post(huge, 'application/json')).status).toBe(413);
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'text/html',
    ])
      expect((await post('{"exit":"u-a","reason":"x"}', type)).status, type).toBe(415);
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=x',
    'cursor=!',
    'cursor=YQ',
    'other=1',
    'state=gone',
    'limit=1&limit=2',
  ])('a list with %s is a problem', async (query) => {
    const { adminPort } = await withApi();
    expect((await askAdmin(adminPort, `/api/v1/upstreams?${query}`)).status).toBe(400);
  });

  it('name the field and never repeat a login', async () => {
    const gateway = await withApi();
    const add = (url: unknown) =>
      askAdmin(gateway.adminPort, '/api/v1/upstreams', { method: 'POST', body: { pool: 'main', url } });
    for (const url of [
      'http://user:CANARY@bad host:1',
      'ftp://user:CANARY@1.2.3.4:1',
      'http://user:CANARY/@@1.2.3.4:99999',
      'http://user:CANARY@10.0.0.1:80',
      'user:CANARY\n1.2.3.4:80',
      { a: 'CANARY' },
    ]) {
      const answer = await add(url);
      expect([400, 422]).toContain(answer.status);
      expect(answer.body.detail).toMatch(/^url: /);
      expect(answer.text).not.toContain('CANARY');
    }
  });
});

describe('exits', () => {
  it('are added at run time, serve, and are gone when they are removed', async () => {
    const [first, second] = [await stage.good('first'), await stage.good('second')];
    const gateway = await withApi([first.url]);
    const url = second.url.replace('://', '://user:CANARY-7@');
    const added = await askAdmin(gateway.adminPort, '/api/v1/upstreams', {
      method: 'POST',
      body: { pool: 'main', url, weight: 2, tags: ['new'] },
    });
    expect(added.status).toBe(201);
    expect(added.body).toMatchObject({
      pool: 'main',
      state: 'available',
      weight: 2,
      tags: ['new'],
      hasLogin: true,
    });
    const again = await askAdmin(gateway.adminPort, '/api/v1/upstreams', {
      method: 'POST',
      body: { pool: 'main', url },
    });
    expect(again.status).toBe(409);
    const fields = [`X-Turnpike-Upstream: ${added.body.id}`];
    expect((await ask(gateway, 'http://site.example/', { fields })).body.toString()).toBe('second');
    expect((await exitsOf(gateway)).map(({ id }) => id)).toContain(added.body.id);
    expect((await askAdmin(gateway.adminPort, `/api/v1/upstreams/${added.body.id}`)).body.successes).toBe(1);
    const path = `/api/v1/upstreams/${added.body.id}`;
    expect((await askAdmin(gateway.adminPort, path, { method: 'DELETE' })).body.state).toBe('removed');
    expect((await askAdmin(gateway.adminPort, path, { method: 'DELETE' })).status).toBe(404);
    expect((await ask(gateway, 'http://site.example/', { fields })).status).toBe(503);
    expect(await exitsOf(gateway)).toHaveLength(1);
    expect(await gateway.metrics()).toMatch(/turnpike_exits\{pool="main",state="available"\} 1\n/);
  });

  it('at places that targets may not be are refused, our own door among them', async () => {
    const gateway = await stage.gateway(['http://127.0.0.1:9'], {
      admin: adminSection,
      targets: { allow: ['127.0.0.2'] },
    });
    const add = async (url: string) =>
      (
        await askAdmin(gateway.adminPort, '/api/v1/upstreams', {
          method: 'POST',
          body: { pool: 'main', url },
        })
      ).status;
    for (const host of [
      '127.0.0.1',
      '10.1.2.3',
      '169.254.169.254',
      '[::1]',
      '[::ffff:10.0.0.1]',
      'localhost',
    ])
      expect(await add(`http://${host}:81`), host).toBe(422);
    for (const port of [gateway.port, gateway.adminPort])
      expect(await add(`http://127.0.0.2:${port}`)).toBe(422);
    expect(await add('http://127.0.0.2:81')).toBe(201);
    // Another login at a place that the configuration names.
    expect(await add('http://user:pw@127.0.0.1:9')).toBe(201);
    expect(await add('http://127.0.0.2:82')).toBe(201);
  });

  it('are listed page by page, each once', async () => {
    const urls = Array.from({ length: 25 }, (_, n) => `http://127.0.1.${n}:9`);
    const gateway = await withApi(urls);
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? 'limit=7' : `limit=7&cursor=${cursor}`;
      const { body }: AdminAnswer = await askAdmin(gateway.adminPort, `/api/v1/upstreams?${query}`);
      expect(body.items.length).toBeLessThanOrEqual(7);
      seen.push(...body.items.map(({ label }: { label: string }) => label));
      cursor = body.next;
    }
    expect(seen).toEqual(urls);
  });
});
