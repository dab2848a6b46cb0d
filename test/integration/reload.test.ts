/** What a reload changes, and what it must leave alone: sessions, bans, counts, kept connections, tunnels. */
import { describe, expect, it } from 'vitest';
import { ask, connect } from '../support/ask.js';
import { login } from '../support/rig.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const route = (name: string, site: string) => [{ name, match: { site }, pools: ['main'] }];

describe('a reload', () => {
  it('swaps exits; sessions on exits that stay keep them, those on exits that are gone move on', async () => {
    const [stays, goes, comes] = [
      await stage.good('stays'),
      await stage.good('goes'),
      await stage.good('comes'),
    ];
    const gateway = await stage.gateway([stays, goes]);
    const page = async (session: string) =>
      ask(gateway, 'http://a.test/', { fields: [`X-Session-Id: ${session}`] });
    const names = Array.from({ length: 24 }, (_, n) => `s${n}`);
    const before = new Map<string, string>();
    for (const name of names) before.set(name, (await page(name)).body.toString());
    expect(new Set(before.values())).toEqual(new Set(['stays', 'goes']));

    expect(await gateway.apply({ upstreams: [stays.url, comes.url] })).toMatchObject({
      kind: 'applied',
      upstreams: 2,
    });
    for (const name of names) {
      const answer = await page(name);
      const was = before.get(name);
      const [body, generation] = [answer.body.toString(), answer.field('X-Turnpike-Session')];
      if (was === 'stays') expect([body, generation]).toEqual(['stays', `${name};1`]);
      else expect([body === 'goes', generation]).toEqual([false, `${name};2`]);
    }
    expect(gateway.app.upstreamCount).toBe(2);
  });

  it('closes idle connections of exits that are gone and goes on with those of the others', async () => {
    const [stays, goes] = [await stage.good('stays'), await stage.good('goes')];
    const gateway = await stage.gateway([stays, goes]);
    for (let i = 0; i < 4; i++) await ask(gateway, 'http://a.test/');
    expect([stays.accepts, goes.accepts, stays.open, goes.open]).toEqual([1, 1, 1, 1]);
    await gateway.apply({ upstreams: [stays.url] });
    await goes.idle();
    await ask(gateway, 'http://a.test/');
    expect([stays.accepts, goes.accepts]).toEqual([1, 1]);
  });

  it('does not keep the connection of an exit that went while it was in use', async () => {
    const stays = await stage.good('stays');
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (answer = resolve));
    const goes = await stage.exit(async (peer) => {
      await asked;
      peer.answer('goes');
    });
    const gateway = await stage.gateway([goes]);
    const page = ask(gateway, 'http://a.test/');
    await goes.peer(0).then((peer) => peer.until('GET'));
    await gateway.apply({ upstreams: [stays.url] });
    answer();
    expect((await page).body.toString()).toBe('goes');
    await goes.idle();
  });

  it('remembers bans', async () => {
    const refusing = await stage.exit((peer) => void peer.answer('no', '403 Forbidden'));
    const good = await stage.good('good');
    const gateway = await stage.gateway([refusing, good], { bans: { suspect_count: 1, max_ejected: 1 } });
    await ask(gateway, 'http://a.test/');
    await ask(gateway, 'http://a.test/');
    await gateway.event('exit_banned');
    const asked = refusing.heads.length;
    await gateway.apply({ config: { bans: { suspect_count: 1, max_ejected: 1 }, timeouts: { dial: '2s' } } });
    for (let i = 0; i < 4; i++) expect((await ask(gateway, 'http://a.test/')).body.toString()).toBe('good');
    expect(refusing.heads).toHaveLength(asked);
  });

  it('neither forgives nor forgets what a client has used', async () => {
    const clients = [{ name: 'c', password: 'p', limits: { requests: '2/h' } }];
    const gateway = await stage.gateway([await stage.good('good')], { clients });
    const status = async () => (await ask(gateway, 'http://a.test/', { fields: [login('c', 'p')] })).status;
    expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
    await gateway.apply({ config: { clients } });
    expect(await status()).toBe(429);
    await gateway.apply({ config: { clients: [{ name: 'c', password: 'p' }] } });
    expect(await status()).toBe(200);
  });

  it('lets tunnels go on, but those of a client that is no more end, and its login with them (Z09)', async () => {
    const [revoked, kept] = [
      { name: 'revoked', password: 'p' },
      { name: 'kept', password: 'p' },
    ];
    const gateway = await stage.gateway([await stage.good('good')], { clients: [revoked, kept] });
    const tunnels = await Promise.all(
      ['revoked', 'kept'].map((name) => connect(gateway, 'a.test:443', { fields: [login(name, 'p')] })),
    );
    expect(tunnels.map(({ answer }) => answer.status)).toEqual([200, 200]);
    await gateway.apply({ config: { clients: [kept] } });
    expect(await tunnels[0]?.client.ended()).toBe('fin');
    const { end } = await gateway.event('exchange_ended', ({ client }) => client === 'revoked');
    expect(end).toBe('cut_by_policy');
    tunnels[1]?.client.write('still here');
    await tunnels[1]?.client.until('still here');
    expect((await ask(gateway, 'http://a.test/', { fields: [login('revoked', 'p')] })).status).toBe(407);
    for (const { client } of tunnels) client.destroy();
  });

  it('is followed by listeners, routes and the sites of metrics', async () => {
    const gateway = await stage.gateway([await stage.good('good')], { routes: route('first', 'a.test') });
    expect((await ask(gateway, 'http://b.test/')).status).toBe(403);
    const listen = {
      proxy: [{ at: '127.0.0.1:0', session: 'tab-1', route: 'second' }],
      admin: '127.0.0.1:0',
    };
    await gateway.apply({ config: { routes: route('second', 'b.test'), listen } });
    expect((await ask(gateway, 'http://b.test/')).field('X-Turnpike-Session')).toBe('tab-1;1');
    expect(await gateway.metrics()).toMatch(/verdicts_total\{site="b.test",verdict="ok"\} 1/);
    expect(await gateway.metrics()).toMatch(/config_reloads_total\{outcome="applied"\} 1/);
  });

  it('that can not be built changes nothing', async () => {
    const gateway = await stage.gateway([await stage.good('good')]);
    const kept = await gateway.app.reload(
      () => ({
        kind: 'problems',
        problems: [{ path: 'pools', message: 'is wrong', line: 3 }],
        file: 't.yaml',
      }),
      'file',
    );
    expect(kept).toEqual({ kind: 'kept', problems: ['t.yaml:3: pools: is wrong'] });
    expect((await ask(gateway, 'http://a.test/')).body.toString()).toBe('good');
    expect(await gateway.metrics()).toMatch(/config_reloads_total\{outcome="kept"\} 1/);
  });

  it('is refused when the gateway is on its way out', async () => {
    const gateway = await stage.gateway([await stage.good('good')]);
    const stopped = gateway.app.stop('test');
    expect((await gateway.apply({})).kind).toBe('kept');
    await stopped;
    await waitFor('the end', () =>
      gateway.events.some((event) => event.type === 'note' && event.what === 'stopped'),
    );
  });
});
