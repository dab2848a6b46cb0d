/** What one client may use, what all may use, and that an empty pool never means going out directly. */
import { describe, expect, it } from 'vitest';
import { answerOf, ask, connect, headFor, startExit } from '../support/ask.js';
import { RawClient } from '../support/raw-client.js';
import { startOrigin } from '../support/real-origins.js';
import type { Peer } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const page = 'http://site.example/';
const as = (name: string) => ({
  fields: [`Proxy-Authorization: Basic ${Buffer.from(`${name}:pw`).toString('base64')}`],
});

const clientsWith = (limits: object) => ({
  clients: [
    { name: 'small', password: 'pw', limits },
    { name: 'other', password: 'pw' },
  ],
});

describe('limits of a client', () => {
  it('requests: 429 with the time to come back, others unaffected', async () => {
    const exit = await stage.good('ok');
    const gateway = await stage.gateway([exit], clientsWith({ requests: '2/min' }));
    const statuses: number[] = [];
    for (let n = 0; n < 4; n++) statuses.push((await ask(gateway, page, as('small'))).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    const tunnel = await connect(gateway, 'site.example:443', as('small'));
    tunnel.client.destroy();
    expect(tunnel.answer.problem().code).toBe('client_limited');
    const seconds = Number(tunnel.answer.field('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(30);
    for (let n = 0; n < 4; n++) expect((await ask(gateway, page, as('other'))).status).toBe(200);
    expect(exit.heads.length).toBe(6);
  });

  it('bytes: counted both ways as they pass, 429 with the time to come back, others unaffected', async () => {
    const exit = await stage.exit((peer, { head }) => {
      if (head.startsWith('CONNECT ')) peer.write('HTTP/1.1 200 OK\r\n\r\n').echo();
      else peer.answer('x'.repeat(600));
    });
    const gateway = await stage.gateway([exit], clientsWith({ bytes: '1900B/h' }));
    expect((await ask(gateway, page, as('small'))).status).toBe(200);
    const standing = await connect(gateway, 'site.example:443', as('small'));
    standing.client.write('y'.repeat(700));
    await standing.client.untilBytes(700);
    // 600 and twice 700: while the tunnel still stands.
    for (const again of [
      await ask(gateway, page, as('small')),
      (await connect(gateway, 'a.test:1', as('small'))).answer,
    ]) {
      expect([again.status, again.problem().code]).toEqual([429, 'client_limited']);
      expect(Number(again.field('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    expect((await ask(gateway, page, as('other'))).status).toBe(200);
    standing.client.write('goes on');
    await standing.client.until('goes on');
    standing.client.destroy();
  });

  it('bytes: cut the tunnels that stand where that is asked for', async () => {
    const gateway = await stage.gateway(
      [await stage.good('ok')],
      clientsWith({ bytes: '1000B/h', over_bytes: 'cut' }),
    );
    const { client } = await connect(gateway, 'site.example:443', as('small'));
    const other = await connect(gateway, 'site.example:443', as('other'));
    client.write('y'.repeat(400));
    await client.untilBytes(400);
    client.write('y'.repeat(400));
    await client.ended();
    expect((await gateway.event('exchange_ended')).end).toBe('cut_by_policy');
    other.client.write('goes on');
    await other.client.until('goes on');
    for (const each of [client, other.client]) each.destroy();
  });

  it('tunnels: so many at once, one more when one has ended', async () => {
    const gateway = await stage.gateway([await stage.good('ok')], clientsWith({ tunnels: 1 }));
    const first = await connect(gateway, 'site.example:443', as('small'));
    const second = await connect(gateway, 'site.example:443', as('small'));
    expect([first.answer.status, second.answer.status]).toEqual([200, 429]);
    expect((await ask(gateway, page, as('small'))).status).toBe(200);
    const foreign = await connect(gateway, 'site.example:443', as('other'));
    expect(foreign.answer.status).toBe(200);
    first.client.destroy();
    await gateway.event('exchange_ended', (event) => event.kind === 'tunnel' && event.status === 200);
    const third = await connect(gateway, 'site.example:443', as('small'));
    expect(third.answer.status).toBe(200);
    for (const { client } of [second, foreign, third]) client.destroy();
  });

  it('exchanges: so many at once', async () => {
    const waiting: Peer[] = [];
    const exit = stage.keep(await startExit((peer) => void waiting.push(peer)));
    const gateway = await stage.gateway([exit], clientsWith({ exchanges: 1 }));
    const first = ask(gateway, page, as('small'));
    await exit.peer(0);
    expect((await ask(gateway, page, as('small'))).problem().code).toBe('client_limited');
    const foreign = ask(gateway, page, as('other'));
    await exit.peer(1);
    await Promise.all(exit.peers.map((peer) => peer.until('\r\n\r\n')));
    for (const peer of exit.peers) peer.answer('at last');
    expect([(await first).status, (await foreign).status]).toEqual([200, 200]);
  });

  it('connections: so many at once, by whoever logs in on them', async () => {
    const gateway = await stage.gateway([await stage.good('ok')], clientsWith({ connections: 2 }));
    const open = async (name: string) => {
      const client = await RawClient.connect(gateway.port);
      client.write(headFor(page, as(name)));
      return { client, answer: answerOf(await client.answer()) };
    };
    const held = [await open('small'), await open('small')];
    expect(held.map(({ answer }) => answer.status)).toEqual([200, 200]);
    const third = await open('small');
    expect(third.answer.problem()).toMatchObject({ code: 'client_limited', status: 429 });
    expect((await open('other')).answer.status).toBe(200);
    // A further request on a connection that counts already is no further connection.
    held[0]?.client.write(headFor(page, as('small')));
    expect((await held[0]?.client.answer())?.status).toBe(200);
    held[1]?.client.destroy();
    await gateway.event('client_disconnected');
    expect((await open('small')).answer.status).toBe(200);
  });
});

describe('limits of the gateway', () => {
  it('connections from one address', async () => {
    const gateway = await stage.gateway([await stage.good('ok')], { limits: { connections_per_address: 1 } });
    const first = await RawClient.connect(gateway.port);
    const second = await RawClient.connect(gateway.port);
    expect(answerOf(await second.answer()).problem().code).toBe('overloaded');
    await second.ended();
    second.destroy();
    first.write(headFor(page));
    expect((await first.answer()).status).toBe(200);
    first.destroy();
    expect(await gateway.event('connection_refused')).toMatchObject({ reason: 'over_limit' });
  });

  it('exchanges under way: one more is told to come back, and is served when one has ended', async () => {
    const exit = stage.keep(await startExit(() => undefined));
    const gateway = await stage.gateway([exit], { limits: { exchanges: 2 } });
    const under = [ask(gateway, page), ask(gateway, page)];
    await waitFor('both requests', () => exit.heads.length === 2);
    const refused = [await ask(gateway, page), (await connect(gateway, 'site.example:443')).answer];
    for (const answer of refused) {
      expect(answer.problem()).toMatchObject({ code: 'overloaded', blame: 'gateway', status: 503 });
      expect(answer.problem().detail).toContain('limits.exchanges');
      expect(answer.field('retry-after')).toBe('1');
    }
    for (const peer of exit.peers) peer.answer('at last');
    expect((await Promise.all(under)).map(({ status }) => status)).toEqual([200, 200]);
    const next = ask(gateway, page);
    await waitFor('the next request', () => exit.heads.length === 3);
    for (const peer of exit.peers) peer.answer('again');
    expect((await next).status).toBe(200);
    expect(await gateway.metrics()).toMatch(
      /^turnpike_errors_total\{code="overloaded",blame="gateway"\} 2$/m,
    );
  });

  it('exchanges under way: tunnels that stand are none', async () => {
    const gateway = await stage.gateway([await stage.good('ok')], { limits: { exchanges: 1 } });
    const { client } = await connect(gateway, 'site.example:443');
    expect((await ask(gateway, page)).status).toBe(200);
    client.destroy();
  });

  it('requests that wait for an exit: one more is told so at once', async () => {
    const exit = stage.keep(await startExit(() => undefined));
    const pools = { main: { upstreams: [{ url: exit.url }], limits: { slots: 1 } } };
    const gateway = await stage.gateway([], { pools, limits: { waiting: 1 }, timeouts: { acquire: '20s' } });
    const first = ask(gateway, page);
    await waitFor('the first request', () => exit.heads.length === 1);
    const peer = await exit.peer(0);
    const both = [ask(gateway, page), ask(gateway, page)];
    const refused = await Promise.race(both);
    expect(refused.problem()).toMatchObject({ code: 'no_upstream', blame: 'gateway' });
    expect(refused.field('retry-after')).toMatch(/^[1-9]$/);
    peer.answer('first');
    expect((await first).status).toBe(200);
    await waitFor('the one that waited', () => exit.heads.length === 2);
    for (const each of exit.peers) each.answer('second');
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 503]);
  });

  it('slots of an exit: a request waits for one to come free', async () => {
    const waiting: Peer[] = [];
    const exit = stage.keep(await startExit((peer) => void waiting.push(peer)));
    const pools = { main: { upstreams: [{ url: exit.url }], limits: { slots: 1 } } };
    const gateway = await stage.gateway([], { pools });
    const answers = [ask(gateway, page), ask(gateway, page)];
    for (let n = 0; n < 2; n++) {
      await gateway.event('upstream_connection');
      const peer = await waitFor(`request ${n} at the exit`, () => waiting[n]);
      expect(waiting.length).toBe(n + 1);
      peer.answer('ok');
    }
    expect((await Promise.all(answers)).map((answer) => answer.status)).toEqual([200, 200]);
  });
});

describe('N12 it fails closed', () => {
  it.each([
    ['an empty pool', []],
    ['exits that refuse', ['http://127.0.0.1:1']],
  ])('%s: no byte goes to the target', async (_name, upstreams) => {
    const origin = stage.keep(await startOrigin());
    const gateway = await stage.gateway(upstreams);
    const plain = await ask(gateway, `${origin.url}/`);
    const tunnel = await connect(gateway, `${origin.host}:${origin.port}`);
    tunnel.client.destroy();
    for (const answer of [plain, tunnel.answer]) {
      expect(answer.status).toBeGreaterThanOrEqual(502);
      expect(['gateway', 'upstream']).toContain(answer.problem().blame);
    }
    expect(origin.connections()).toBe(0);
  });
});
