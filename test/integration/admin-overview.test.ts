/** What the admin API shows of clients, sessions and the whole, and that no secret is in it. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin, tokens } from '../support/admin.js';
import { ask } from '../support/ask.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

describe('clients and status', () => {
  it('Z08 are shown with limits and use, and without any password', async () => {
    const exit = await stage.good('exit');
    const gateway = await stage.gateway([exit.url.replace('://', '://up:CANARY-UP@')], {
      admin: adminSection,
      clients: [
        {
          name: 'crawler',
          password: 'CANARY-PW',
          limits: { requests: '600/min', exchanges: 5, bytes: '1000000/d' },
        },
      ],
      pools: {
        main: { upstreams: [{ url: exit.url.replace('://', '://up:CANARY-UP@') }] },
        spare: { upstreams: [] },
      },
    });
    const login = `Proxy-Authorization: Basic ${Buffer.from('crawler:CANARY-PW').toString('base64')}`;
    await ask(gateway, 'http://site.example/', { fields: [login, 'X-Session-Id: s1'] });
    const texts: string[] = [];
    for (const name of ['clients', 'status', 'pools', 'upstreams', 'sessions', 'bans', 'openapi.json']) {
      const answer = await askAdmin(gateway.adminPort, `/api/v1/${name}`, { token: tokens.read });
      expect(answer.status).toBe(200);
      expect(answer.headers['cache-control']).toBe('no-store');
      texts.push(answer.text);
    }
    expect(JSON.parse(texts[0] ?? '').items).toEqual([
      {
        name: 'crawler',
        login: 'password',
        source: 'configuration',
        allowFrom: [],
        targets: [],
        limits: {
          requests: { count: 600, perMs: 60_000 },
          ...{ tunnels: null, connections: null, exchanges: 5 },
          bytes: { count: 1_000_000, perMs: 86_400_000 },
        },
        usage: { tunnels: 0, connections: null, exchanges: 0, bytes: expect.any(Number) },
      },
    ]);
    expect(JSON.parse(texts[0] ?? '').items[0].usage.bytes).toBeGreaterThan(0);
    expect((await askAdmin(gateway.adminPort, '/readyz')).body).toEqual({
      ...{ phase: 'serving', state: 'memory', emptyPools: ['spare'], vault: 'off', storage: 'off' },
    });
    expect(JSON.parse(texts[1] ?? '')).toMatchObject({
      phase: 'serving',
      exits: { available: 1 },
      tunnelsOpen: 0,
    });
    expect(JSON.parse(texts[4] ?? '').items).toMatchObject([
      { client: 'crawler', session: 's1', generation: 1 },
    ]);
    const everything = texts.join('') + (await gateway.metrics());
    for (const secret of ['CANARY', ...Object.values(tokens)]) {
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(Buffer.from(secret).toString('base64'));
    }
  });

  it('sessions can be forgotten', async () => {
    const gateway = await stage.gateway([await stage.good('exit')], { admin: adminSection });
    await ask(gateway, 'http://site.example/', { fields: ['X-Session-Id: a.b'] });
    const path = '/api/v1/sessions/anonymous/a.b';
    expect((await askAdmin(gateway.adminPort, path, { method: 'DELETE' })).status).toBe(200);
    expect((await askAdmin(gateway.adminPort, path, { method: 'DELETE' })).status).toBe(404);
    expect((await askAdmin(gateway.adminPort, '/api/v1/sessions')).body).toEqual({ items: [], next: null });
  });
});
