/** What becomes of requests when every exit of a pool is set aside, as the route says. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin, exitsOf } from '../support/admin.js';
import { ask, connect } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const page = 'http://site.example/';

/** Two pools of one exit each; the first is banned for `ttl`. */
async function exhausted(
  onExhausted: string,
  ttl: string,
  pools = ['first', 'second'],
): Promise<TestGateway> {
  const [first, second] = [await stage.good('first'), await stage.good('second')];
  const gateway = await stage.gateway([], {
    admin: adminSection,
    pools: { first: { upstreams: [{ url: first.url }] }, second: { upstreams: [{ url: second.url }] } },
    routes: [{ match: {}, pools, on_exhausted: onExhausted }],
  });
  const [{ id: exit }] = await exitsOf(gateway, '?pool=first');
  await askAdmin(gateway.adminPort, '/api/v1/bans', {
    method: 'POST',
    body: { exit, ttl, reason: 'a test' },
  });
  return gateway;
}

const bodyOf = async (gateway: TestGateway): Promise<string> => (await ask(gateway, page)).body.toString();

describe('S7 a pool that is exhausted', () => {
  it('next_tier: the next pool serves at once', async () => {
    expect(await bodyOf(await exhausted('next_tier', '400ms'))).toBe('second');
  });

  it('wait: is waited for before the next pool is asked', async () => {
    expect(await bodyOf(await exhausted('wait', '400ms'))).toBe('first');
    expect(await bodyOf(await exhausted('wait', '1h'))).toBe('second');
  });

  it('fail: ends at once with the time of the return, plain and CONNECT', async () => {
    const gateway = await exhausted('fail', '2s', ['first']);
    const { client, answer } = await connect(gateway, 'site.example:443');
    client.destroy();
    for (const each of [await ask(gateway, page), answer]) {
      expect(each.problem().code).toBe('no_upstream');
      expect(Number(each.field('retry-after'))).toBeLessThanOrEqual(2);
    }
  });

  it('least_bad: one request in a while uses it all the same, and never directly', async () => {
    const gateway = await exhausted('least_bad', '1h', ['first']);
    const asked = await Promise.all(
      Array.from({ length: 5 }, () => ask(gateway, page, { fields: ['X-Turnpike-Explain: on'] })),
    );
    const [served, ...others] = asked.sort((a, b) => a.status - b.status);
    expect([served?.body.toString(), served?.field('x-turnpike-explain')]).toEqual([
      'first',
      'route=route-0; pool=first; exit=least_bad',
    ]);
    for (const each of others) expect(each.problem().code).toBe('no_upstream');
  });
});

describe('S7 N9 an exhausted pool of a route that escalates', () => {
  /** Both pools of one exit; those named are banned for `ttl`. */
  async function escalating(onExhausted: string, ttl: string, banned = ['cheap']): Promise<TestGateway> {
    const [cheap, dear] = [await stage.good('cheap'), await stage.good('dear')];
    const gateway = await stage.gateway([], {
      admin: adminSection,
      pools: {
        cheap: { upstreams: [{ url: cheap.url }], cost: { per_request: 1 } },
        dear: { upstreams: [{ url: dear.url }], cost: { per_request: 10 } },
      },
      routes: [
        { match: {}, pools: ['cheap', 'dear'], on_exhausted: onExhausted, escalate: { block_rate: 0.5 } },
      ],
    });
    for (const pool of banned) {
      const [{ id: exit }] = await exitsOf(gateway, `?pool=${pool}`);
      const body = { exit, ttl, reason: 'a test' };
      await askAdmin(gateway.adminPort, '/api/v1/bans', { method: 'POST', body });
    }
    return gateway;
  }

  it('wait: the cheap pool is waited for, and the dear one asked when that is no use', async () => {
    expect(await bodyOf(await escalating('wait', '400ms'))).toBe('cheap');
    expect(await bodyOf(await escalating('wait', '1h'))).toBe('dear');
  });

  it('least_bad: the dear pool serves, and when it is out too the cheapest that may be paid for', async () => {
    expect(await bodyOf(await escalating('least_bad', '1h'))).toBe('dear');
    const gateway = await escalating('least_bad', '1h', ['cheap', 'dear']);
    const asked = await Promise.all(
      Array.from({ length: 4 }, () => ask(gateway, page, { fields: ['X-Turnpike-Explain: on'] })),
    );
    const served = asked.filter(({ status }) => status === 200).map(({ body }) => body.toString());
    expect(served.sort()).toEqual(['cheap', 'dear']);
    for (const each of asked.filter(({ status }) => status !== 200))
      expect(each.problem().code).toBe('no_upstream');
  });

  it('wait: a pool that the request names is waited for once, not once for each pool of the route', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const busy = await stage.scripted(async (peer) => {
      await peer.head();
      await gate;
      peer.write('HTTP/1.1 204 No Content\r\n\r\n');
    });
    const pools = ['first', 'second', 'third'];
    const gateway = await stage.gateway([], {
      timeouts: { acquire: '1100ms' },
      pools: Object.fromEntries(
        pools.map((name) => [name, { upstreams: [{ url: busy.url }], limits: { slots: 1 } }]),
      ),
      routes: [
        { match: { site: 'many.example' }, pools, on_exhausted: 'wait' },
        { match: {}, pools: ['first'], on_exhausted: 'wait' },
      ],
    });
    const held = ask(gateway, page);
    await busy.peer(0);
    const ends: string[] = [];
    const named = ask(gateway, 'http://many.example/', { fields: ['X-Turnpike-Pool: first'] });
    const twice = ask(gateway, page).then(() => ask(gateway, page));
    await Promise.all([named.then(() => ends.push('named')), twice.then(() => ends.push('twice'))]);
    release();
    await held;
    expect(ends).toEqual(['named', 'twice']);
  });
});
