/** C19: what becomes of open tunnels when their exit is banned. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin } from '../support/admin.js';
import { ask, connect } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import type { RawClient } from '../support/raw-client.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

async function gatewayWith(tunnels: Record<string, unknown> = {}): Promise<TestGateway> {
  const exit = await stage.good('exit');
  return stage.gateway([exit], { admin: adminSection, tunnels });
}

async function tunnelTo(
  gateway: TestGateway,
  authority: string,
): Promise<{ client: RawClient; exit: string }> {
  const { client, answer } = await connect(gateway, authority, { fields: ['X-Session-Id: s1'] });
  expect(answer.status).toBe(200);
  client.write('ping ');
  await client.until('ping ');
  return { client, exit: answer.field('x-turnpike-upstream') ?? '' };
}

const ban = async (gateway: TestGateway, body: Record<string, unknown>): Promise<number> => {
  const answer = await askAdmin(gateway.adminPort, '/api/v1/bans', {
    method: 'POST',
    body: { reason: 'a test', ttl: '1h', ...body },
  });
  expect(answer.status).toBe(201);
  return answer.body.tunnels;
};

describe('C19 tunnels of a banned exit', () => {
  it('go on when the policy is keep, which it is by itself', async () => {
    const gateway = await gatewayWith();
    const { client, exit } = await tunnelTo(gateway, 'a.example:443');
    expect(await ban(gateway, { exit })).toBe(0);
    client.write('still open');
    await client.until('still open');
    expect((await ask(gateway, 'http://a.example/')).status).toBe(503);
    client.destroy();
  });

  it('end at once when it is close, and count as cut by policy', async () => {
    const gateway = await gatewayWith({ on_ban: 'close' });
    const { client, exit } = await tunnelTo(gateway, 'a.example:443');
    expect(await ban(gateway, { exit })).toBe(1);
    await client.ended();
    const ended = await gateway.event('exchange_ended', ({ kind }) => kind === 'tunnel');
    expect([ended.end, ended.upstream]).toEqual(['cut_by_policy', exit]);
  });

  it('end when they are silent when it is close_idle', async () => {
    const gateway = await gatewayWith({ on_ban: 'close_idle', ban_idle: '300ms' });
    const { client, exit } = await tunnelTo(gateway, 'a.example:443');
    expect(await ban(gateway, { exit })).toBe(1);
    client.write('a last word');
    await client.until('a last word');
    await client.ended();
    const ended = await gateway.event('exchange_ended', ({ kind }) => kind === 'tunnel');
    expect(ended.end).toBe('cut_by_policy');
  });

  it('end only for the site that the ban is for', async () => {
    const gateway = await gatewayWith({ on_ban: 'close' });
    const a = await tunnelTo(gateway, 'www.a.example:443');
    const b = await tunnelTo(gateway, 'b.example:443');
    expect(await ban(gateway, { exit: a.exit, site: 'shop.a.example' })).toBe(1);
    await a.client.ended();
    b.client.write('not me');
    await b.client.until('not me');
    b.client.destroy();
  });

  it('end as the ban itself says, whatever the policy', async () => {
    const gateway = await gatewayWith();
    const { client, exit } = await tunnelTo(gateway, 'a.example:443');
    expect(await ban(gateway, { exit, tunnels: 'close' })).toBe(1);
    await client.ended();
  });

  it('end for automatic bans too', async () => {
    const exit = await stage.exit((peer, { head }) => {
      if (head.startsWith('CONNECT ')) {
        peer.write('HTTP/1.1 200 OK\r\n\r\n');
        peer.echo();
        return;
      }
      peer.write('HTTP/1.1 429 Too Many Requests\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n');
    });
    const gateway = await stage.gateway([exit], { tunnels: { on_ban: 'close' } });
    const { client } = await tunnelTo(gateway, 'a.example:443');
    await ask(gateway, 'http://a.example/');
    await client.ended();
    const ended = await gateway.event('exchange_ended', ({ kind }) => kind === 'tunnel');
    expect(ended.end).toBe('cut_by_policy');
  });
});

describe('a ban by the API', () => {
  it('holds for its site and time, is listed, and ends when it is lifted', async () => {
    const [first, second] = [await stage.good('first'), await stage.good('second')];
    const gateway = await stage.gateway([first, second], { admin: adminSection });
    const { field } = await ask(gateway, 'http://a.example/', { fields: ['X-Session-Id: s1'] });
    const exit = field('x-turnpike-upstream') ?? '';
    await ban(gateway, { exit, site: 'www.A.example', ttl: '2h' });
    const { body } = await askAdmin(gateway.adminPort, '/api/v1/bans');
    expect(body.items).toMatchObject([
      { id: `${exit}:a.example`, exit, site: 'a.example', reason: 'a test', strikes: 1, phase: 'out' },
    ]);
    expect(body.items[0].leftMs).toBeGreaterThan(7_100_000);
    expect(body.items[0].leftMs).toBeLessThanOrEqual(7_200_000);
    const moved = await ask(gateway, 'http://a.example/', { fields: ['X-Session-Id: s1'] });
    expect(moved.field('x-turnpike-session')).toBe('s1;2');
    const elsewhere = { fields: [`X-Turnpike-Upstream: ${exit}`] };
    expect((await ask(gateway, 'http://b.example/', elsewhere)).status).toBe(200);
    expect((await ask(gateway, 'http://a.example/', elsewhere)).status).toBe(503);
    const path = `/api/v1/bans/${encodeURIComponent(`${exit}:a.example`)}`;
    expect((await askAdmin(gateway.adminPort, path, { method: 'DELETE' })).status).toBe(200);
    expect((await askAdmin(gateway.adminPort, path, { method: 'DELETE' })).status).toBe(404);
    expect((await ask(gateway, 'http://a.example/', elsewhere)).status).toBe(200);
    expect(await gateway.metrics()).toMatch(/turnpike_bans_total\{scope="site",site="other"\} 1\n/);
  });

  it('may take the last exit, and last longer than the cap, since a person says so', async () => {
    const gateway = await stage.gateway([await stage.good('only')], { admin: adminSection });
    const { field } = await ask(gateway, 'http://a.example/');
    await ban(gateway, { exit: field('x-turnpike-upstream') ?? '', ttl: '20d' });
    expect((await ask(gateway, 'http://b.example/')).status).toBe(503);
    const { body } = await askAdmin(gateway.adminPort, '/api/v1/bans');
    expect(body.items[0]).toMatchObject({ site: null });
    expect(body.items[0].leftMs).toBeGreaterThan(19 * 86_400_000);
  });

  it('of what there is not is refused', async () => {
    const gateway = await stage.gateway([await stage.good('only')], { admin: adminSection });
    const [{ id }] = (await askAdmin(gateway.adminPort, '/api/v1/upstreams')).body.items;
    const post = async (body: unknown) =>
      (await askAdmin(gateway.adminPort, '/api/v1/bans', { method: 'POST', body })).status;
    expect(await post({ exit: 'u-none', reason: 'x' })).toBe(404);
    for (const site of ['a b', 'a,b', '%', '[::1', 'a/b'])
      expect(await post({ exit: id, reason: 'x', site }), site).toBe(422);
  });
});
