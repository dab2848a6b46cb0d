/**
 * Upstreams whose login comes from the vault: real proxies that ask for it, its change while tunnels stand, a start while the
 * vault is sealed, records that are missing, exits that the API adds.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adminSection, askAdmin, exitsOf } from '../support/admin.js';
import { ask, connect } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { openKeptStorage, type KeptStorage } from '../support/kept-storage.js';
import { fieldsOf } from '../support/raw-client.js';
import { startOrigin, type Origin } from '../support/real-origins.js';
import { startProxyChain, startSquid } from '../support/real-proxies.js';
import { serveEach } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';
import { eventually } from '../support/wait.js';

const stage = createStage();
let kept: KeptStorage;
let origin: Origin;
let folder: string;

beforeAll(async () => {
  kept = await openKeptStorage();
  origin = await startOrigin({ handler: (_, response) => void response.end('page') });
  folder = mkdtempSync(join(tmpdir(), 'turnpike-vault-upstreams-'));
});
afterAll(async () => {
  await Promise.all([kept.close(), origin.close()]);
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  Object.assign(kept.mood, { storage: 'there', vault: 'open', audit: 'takes' });
});

type Entry = Record<string, unknown>;

function gatewayWith(
  pools: Record<string, readonly Entry[]>,
  more: Record<string, unknown> = {},
): Promise<TestGateway> {
  const names = Object.keys(pools);
  return stage.gateway(
    [],
    {
      admin: adminSection,
      pools: Object.fromEntries(names.map((name) => [name, { upstreams: pools[name] }])),
      routes: [
        ...names.slice(1).map((name) => ({ match: { path: `/${name}` }, pools: [name] })),
        { pools: [names[0]] },
      ],
      ...more,
    },
    { parts: { storage: kept.storage } },
  );
}

const get = async (gateway: TestGateway, path = '/'): Promise<string> => {
  const answer = await ask(gateway, `${origin.url}${path}`);
  return answer.status === 200 ? answer.body.toString() : answer.problem().code;
};

const ready = async (gateway: TestGateway) =>
  (await askAdmin(gateway.adminPort, '/readyz', { token: null })).body;

const secretsOf = (...texts: string[]) => new RegExp(texts.join('|'));

describe('K5 an upstream with a login of the vault', () => {
  it('is asked with it; a new password is taken over while a tunnel stands, and nobody says it', async () => {
    const auth = { username: 'exit', password: 'hush-first' };
    const exit = stage.keep(await startProxyChain({ auth }));
    await kept.setLogin('dc', auth.username, auth.password);
    const gateway = await gatewayWith({
      main: [{ url: `http://${exit.host}:${exit.port}`, credential: 'vault:dc' }],
    });
    expect(await get(gateway)).toBe('page');
    const [before] = await exitsOf(gateway);
    const tunnel = await connect(gateway, new URL(origin.url).host);
    expect(tunnel.answer.status).toBe(200);
    auth.password = 'hush-second';
    expect(await get(gateway)).toBe('upstream_auth');
    await kept.setLogin('dc', 'exit', 'hush-second');
    await eventually('the new password', async () => (await get(gateway)) === 'page');
    tunnel.client.write(`GET / HTTP/1.1\r\nHost: site.example\r\n\r\n`);
    expect((await tunnel.client.answer()).body.toString()).toBe('page');
    tunnel.client.destroy();
    const [after] = await exitsOf(gateway);
    expect([after.id, after.hasLogin, after.credential]).toEqual([before.id, true, before.credential]);
    const uses = kept.audited.filter(
      ({ action, credential }) => action === 'upstream_login.use' && credential === 'dc',
    );
    expect(uses.map(({ actor, detail }) => [actor, detail])).toEqual([
      ['system', { version: 1 }],
      ['system', { version: 2 }],
    ]);
    const told = JSON.stringify([
      gateway.events,
      kept.audited,
      await exitsOf(gateway),
      await gateway.metrics(),
    ]);
    expect(told).not.toMatch(secretsOf('hush', Buffer.from('exit:hush-second').toString('base64')));
  });

  it('may stand in a list, where a line with a login of its own is left out', async () => {
    const auth = { username: 'listed', password: 'pw-listed' };
    const exit = stage.keep(await startSquid({ auth }));
    await kept.setLogin('listed', auth.username, auth.password);
    const file = join(folder, 'list.txt');
    writeFileSync(file, `${exit.host}:${exit.port}\nhttp://me:mine@192.0.2.1:8000\n`);
    const gateway = await gatewayWith({ main: [{ file, credential: 'vault:listed' }] });
    expect(await get(gateway)).toBe('page');
    expect(await exitsOf(gateway)).toHaveLength(1);
    const note = await gateway.event('note', ({ what }) => what === 'bad_upstream');
    expect(note.detail).toMatchObject({
      line: 2,
      reason: 'the login is given twice: with the upstream and by credential',
    });
  });

  it('fills {secret} of a template, whose exits and sessions outlive a new password', async () => {
    const vendor = await stage.scripted(
      serveEach((peer, { head }) => {
        const [login = ''] = fieldsOf(head, 'proxy-authorization');
        peer.answer(Buffer.from(login.replace('Basic ', ''), 'base64').toString());
      }),
    );
    await kept.setLogin('brd', 'ignored', 'p@ss:{session}%1');
    const template = `http://customer-C-session-{session}-country-{country}:{secret}@127.0.0.1:${vendor.port}`;
    const gateway = await gatewayWith({
      main: [{ template, exits: 1, country: 'us', credential: 'vault:brd' }],
    });
    const first = await get(gateway);
    expect(first).toMatch(/^customer-C-session-[a-z0-9]{12}-country-us:p@ss:\{session\}%1$/);
    await kept.setLogin('brd', 'ignored', 'second');
    await eventually('the new password', async () => (await get(gateway)).endsWith(':second'));
    expect((await get(gateway)).split(':')[0]).toBe(first.split(':')[0]);
  });
});

describe('K5 a login that is not to be had', () => {
  it('because the vault is sealed at the start leaves its exits out, until it opens', async () => {
    const auth = { username: 'late', password: 'pw-late' };
    const exit = stage.keep(await startProxyChain({ auth }));
    await kept.setLogin('late', auth.username, auth.password);
    kept.mood.vault = 'sealed';
    const upstream = { url: `http://${exit.host}:${exit.port}`, credential: 'vault:late' };
    const gateway = await gatewayWith({
      main: [{ url: (await stage.good('plain')).url }],
      vaulted: [upstream],
    });
    expect([await get(gateway), await get(gateway, '/vaulted')]).toEqual(['plain', 'no_upstream']);
    const note = await gateway.event('note', ({ what }) => what === 'no_upstream_login');
    expect(note).toMatchObject({
      level: 'warn',
      detail: { path: 'pools.vaulted.upstreams[0].credential', why: 'sealed' },
    });
    expect((await ready(gateway)).missingLogins).toEqual([
      'pools.vaulted.upstreams[0].credential: vault:late sealed',
    ]);
    kept.mood.vault = 'open';
    await eventually('the exit', async () => (await get(gateway, '/vaulted')) === 'page');
    expect(await ready(gateway)).not.toHaveProperty('missingLogins');
    // Sealed again, it goes on with what it has; so it does while storage and audit are away.
    kept.mood.vault = 'sealed';
    kept.mood.storage = 'away';
    expect((await askAdmin(gateway.adminPort, '/api/v1/status')).status).toBe(200);
    expect(await get(gateway, '/vaulted')).toBe('page');
  });

  it('because storage or audit are away comes with them', async () => {
    await kept.setLogin('away', 'u', 'pw-away');
    const upstream = { url: (await stage.good('vaulted')).url, credential: 'vault:away' };
    kept.mood.storage = 'away';
    const gateway = await gatewayWith({ main: [upstream] });
    expect((await ready(gateway)).missingLogins).toEqual([
      'pools.main.upstreams[0].credential: vault:away away',
    ]);
    kept.mood.audit = 'fails';
    kept.mood.storage = 'there';
    await eventually('the storage', async () => (await get(gateway)) === 'no_upstream');
    kept.mood.audit = 'takes';
    await eventually('the exit', async () => (await get(gateway)) === 'vaulted');
  });

  it('because the record is missing, or of another type, says what to do; it comes and goes with it', async () => {
    const upstream = { url: (await stage.good('vaulted')).url, credential: 'vault:none-yet' };
    const gateway = await gatewayWith({ main: [upstream] });
    const note = await gateway.event('note', ({ what }) => what === 'no_upstream_login');
    expect(note.detail['reason']).toContain('POST /api/v1/credentials');
    await kept.setLogin('none-yet', 'u', 'pw-none');
    await eventually('the exit', async () => (await get(gateway)) === 'vaulted');
    await kept.database.credentials.change('none-yet', { status: 'disabled', forMs: null }, null);
    await eventually('it to go', async () => (await get(gateway)) === 'no_upstream');
    expect((await ready(gateway)).missingLogins).toEqual([
      'pools.main.upstreams[0].credential: vault:none-yet disabled',
    ]);
    await kept.database.credentials.remove('none-yet');
    await eventually('it to be missed', async () =>
      String((await ready(gateway)).missingLogins).endsWith('missing'),
    );
  });
});

describe('K5 an exit that the API adds with a credential', () => {
  it('has its login, a new one too, and goes with it', async () => {
    const auth = { username: 'added', password: 'pw-one' };
    const exit = stage.keep(await startProxyChain({ auth }));
    await kept.setLogin('added', auth.username, auth.password);
    const gateway = await gatewayWith({ main: [] });
    const add = (body: Entry) => askAdmin(gateway.adminPort, '/api/v1/upstreams', { method: 'POST', body });
    const url = `http://${exit.host}:${exit.port}`;
    expect(await add({ pool: 'main', url, credential: 'vault:nobody' })).toMatchObject({ status: 422 });
    const made = await add({ pool: 'main', url, credential: 'vault:added' });
    expect(made.status, made.text).toBe(201);
    expect(made.text).not.toContain('pw-one');
    expect(await get(gateway)).toBe('page');
    auth.password = 'pw-two';
    expect(await get(gateway)).toBe('upstream_auth');
    await kept.setLogin('added', 'added', 'pw-two');
    await eventually('the new password', async () => (await get(gateway)) === 'page');
    expect((await exitsOf(gateway)).map(({ id }: { id: string }) => id)).toEqual([made.body.id]);
    await kept.database.credentials.remove('added');
    await eventually('it to go', async () => (await exitsOf(gateway)).length === 0);
  });
});
