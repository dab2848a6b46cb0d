/** Clients that judge for themselves: what they say moves them at once, and others when they agree. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin, exitsOf as exitsIn, tokens } from '../support/admin.js';
import { ask, connect } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { login } from '../support/rig.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const clients = ['a', 'b', 'c'].map((name) => ({ name, password: `${name}-password` }));
const as = (name: string): string => login(name, `${name}-password`);
const authority = 'site.example:443';

async function gatewayOf(count: number, config: Record<string, unknown> = {}): Promise<TestGateway> {
  const exits = await Promise.all(Array.from({ length: count }, (_, n) => stage.good(`exit-${n}`)));
  return stage.gateway(exits, { admin: adminSection, clients, ...config });
}

/** A tunnel of this client; the exit that it came by, and its request id. */
async function tunnelOf(gateway: TestGateway, client: string, ...fields: string[]) {
  const { client: wire, answer } = await connect(gateway, authority, { fields: [as(client), ...fields] });
  wire.destroy();
  expect(answer.status).toBe(200);
  return {
    exit: answer.field('x-turnpike-upstream') ?? '',
    id: answer.field('x-turnpike-request-id') ?? '',
  };
}

const say = (gateway: TestGateway, client: string, body: Record<string, unknown>) =>
  askAdmin(gateway.adminPort, '/api/v1/feedback', {
    method: 'POST',
    token: null,
    headers: { authorization: as(client).slice('Proxy-Authorization: '.length) },
    body,
  });

/** Exits of so many tunnels. */
async function exitsOf(gateway: TestGateway, client: string, count = 6): Promise<Set<string>> {
  const seen = new Set<string>();
  for (let n = 0; n < count; n++) seen.add((await tunnelOf(gateway, client)).exit);
  return seen;
}

describe('S8 feedback by header', () => {
  it('moves the next tunnel of this client, its session too, and nobody else', async () => {
    const gateway = await gatewayOf(3);
    const first = await tunnelOf(gateway, 'a', 'X-Session-Id: s1');
    const said = `X-Turnpike-Feedback: ${first.id};blocked`;
    const next = await tunnelOf(gateway, 'a', 'X-Session-Id: s1', said);
    expect(next.exit).not.toBe(first.exit);
    expect([...(await exitsOf(gateway, 'a'))]).not.toContain(first.exit);
    expect((await exitsOf(gateway, 'b')).size).toBe(3);
    expect(await gateway.event('feedback_given')).toMatchObject({
      ...{ client: 'a', site: 'site.example', upstream: first.exit },
      ...{ verdict: 'blocked', outcome: 'noted', requestId: first.id.split('~')[0] },
    });
    expect(await gateway.metrics()).toContain('turnpike_feedback_total{verdict="blocked",outcome="noted"} 1');
  });

  it('is everybody’s when a second client says the same', async () => {
    const gateway = await gatewayOf(3);
    const mine = await tunnelOf(gateway, 'a');
    await tunnelOf(gateway, 'a', `X-Turnpike-Feedback: ${mine.id};blocked`);
    const named = `X-Turnpike-Upstream: ${mine.exit}`;
    const theirs = await tunnelOf(gateway, 'b', named);
    await tunnelOf(gateway, 'b', `X-Turnpike-Feedback: ${theirs.id};blocked`);
    expect(await gateway.event('exit_banned')).toMatchObject({
      ...{ upstream: mine.exit, site: 'site.example', reason: 'feedback' },
    });
    expect([...(await exitsOf(gateway, 'c'))]).not.toContain(mine.exit);
  });

  it('is everybody’s when our own traffic has a sign of it', async () => {
    const exit = await stage.exit((peer, { head }) => {
      if (head.startsWith('CONNECT ')) peer.write('HTTP/1.1 200 OK\r\n\r\n');
      else peer.answer('no', '403 Forbidden');
    });
    const gateway = await stage.gateway([exit, await stage.good('good')], { admin: adminSection, clients });
    const all = await exitsIn(gateway);
    const id: string = all.find(({ label }) => label.endsWith(`:${exit.port}`)).id;
    const blocked = await tunnelOf(gateway, 'a', `X-Turnpike-Upstream: ${id}`);
    await tunnelOf(gateway, 'a', `X-Turnpike-Feedback: ${blocked.id};blocked`);
    const fields = [as('b'), 'X-Turnpike-Retries: 0', `X-Turnpike-Upstream: ${blocked.exit}`];
    await ask(gateway, 'http://site.example/', { fields });
    expect(await gateway.event('exit_banned')).toMatchObject({ upstream: blocked.exit, reason: 'feedback' });
  });

  it('can be taken back', async () => {
    const gateway = await gatewayOf(2);
    const first = await tunnelOf(gateway, 'a');
    await tunnelOf(gateway, 'a', `X-Turnpike-Feedback: ${first.id};blocked`);
    expect([...(await exitsOf(gateway, 'a', 3))]).not.toContain(first.exit);
    await tunnelOf(gateway, 'a', `X-Turnpike-Feedback: ${first.id};ok`);
    expect((await exitsOf(gateway, 'a', 3)).size).toBe(2);
  });

  it('never leaves a client without any exit', async () => {
    const gateway = await gatewayOf(1);
    const first = await tunnelOf(gateway, 'a');
    expect((await tunnelOf(gateway, 'a', `X-Turnpike-Feedback: ${first.id};blocked`)).exit).toBe(first.exit);
  });

  it('of another client, forged, or with another verdict is refused and says why', async () => {
    const gateway = await gatewayOf(2);
    const { id } = await tunnelOf(gateway, 'a');
    const forged = `${id.slice(0, -1)}${id.endsWith('A') ? 'B' : 'A'}`;
    for (const [client, said, why] of [
      ['b', `${id};blocked`, 'was not given to this client'],
      ['a', `${forged};blocked`, 'was not given to this client'],
      ['a', `${id.split('~')[0]};blocked`, 'is no request id of an answer'],
      ['a', `${id};bad`, 'must be one of blocked, ok'],
    ] as const) {
      const fields = [as(client), `X-Turnpike-Feedback: ${said}`];
      const { client: wire, answer } = await connect(gateway, authority, { fields });
      wire.destroy();
      expect([answer.status, answer.problem().code]).toEqual([400, 'bad_request']);
      expect(answer.problem().detail).toContain(why);
    }
    expect(gateway.events.filter(({ type }) => type === 'feedback_given')).toEqual([]);
  });
});

describe('S8 feedback by the API', () => {
  it('is taken from a client with its own login', async () => {
    const gateway = await gatewayOf(2);
    const { id, exit } = await tunnelOf(gateway, 'a');
    const taken = await say(gateway, 'a', { requestId: id, verdict: 'blocked' });
    expect([taken.status, taken.body]).toEqual([200, { exit, site: 'site.example', outcome: 'noted' }]);
    expect([...(await exitsOf(gateway, 'a', 3))]).not.toContain(exit);
    expect((await say(gateway, 'b', { requestId: id, verdict: 'blocked' })).status).toBe(422);
    expect((await say(gateway, 'b', { requestId: id, verdict: 'blocked', client: 'a' })).status).toBe(403);
    expect((await say(gateway, 'a', { requestId: id, verdict: 'bad' })).status).toBe(400);
  });

  it('is taken from an operator who names the client', async () => {
    const gateway = await gatewayOf(2);
    const { id } = await tunnelOf(gateway, 'a');
    const post = (token: string, body: Record<string, unknown>) =>
      askAdmin(gateway.adminPort, '/api/v1/feedback', { method: 'POST', token, body });
    const said = { requestId: id, verdict: 'blocked' };
    expect((await post(tokens.read, { ...said, client: 'a' })).status).toBe(403);
    expect((await post(tokens.operator, said)).status).toBe(422);
    expect((await post(tokens.operator, { ...said, client: 'a' })).body).toMatchObject({ outcome: 'noted' });
  });

  it('wants a right login, which opens nothing else', async () => {
    const gateway = await gatewayOf(1);
    const wrong = { authorization: `Basic ${Buffer.from('a:wrong').toString('base64')}` };
    const ask = { method: 'POST', token: null, headers: wrong, body: {} };
    const refused = await askAdmin(gateway.adminPort, '/api/v1/feedback', ask);
    expect([refused.status, refused.body.detail]).toEqual([
      401,
      expect.stringMatching(/No client has this name and password.*Basic .* of a client/),
    ]);
    const right = { authorization: as('a').slice('Proxy-Authorization: '.length) };
    for (const path of ['/api/v1/bans', '/api/v1/status', '/api/v1/clients'])
      expect((await askAdmin(gateway.adminPort, path, { token: null, headers: right })).status).toBe(401);
  });

  it('of one gateway is taken by another with the same key', async () => {
    const feedback = { key: 'a key that both of them have' };
    const [one, other, stranger] = [
      await gatewayOf(1, { feedback }),
      await gatewayOf(1, { feedback }),
      await gatewayOf(1),
    ];
    const { id } = await tunnelOf(one, 'a');
    expect((await say(other, 'a', { requestId: id, verdict: 'blocked' })).status).toBe(200);
    expect((await say(stranger, 'a', { requestId: id, verdict: 'blocked' })).status).toBe(422);
  });
});
