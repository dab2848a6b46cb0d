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

describe('B02 what no exit can ever give', () => {
  it.each([
    ['a country', 'X-Turnpike-Country: de', /route .* is what the request asks for: country de\./],
    ['a tag', 'X-Turnpike-Tags: fast', /tags fast/],
    ['an exit', 'X-Turnpike-Upstream: u-nobody', /upstream u-nobody/],
  ])('%s: is told at once, as no matter of time, and with what to change', async (_what, field, words) => {
    const gateway = await stage.gateway([await stage.good('a')]);
    const answer = await ask(gateway, page, { fields: [field] });
    expect(answer.problem()).toMatchObject({ code: 'no_upstream', status: 503, retryable: false });
    expect(answer.problem().detail).toMatch(words);
    expect(answer.problem().detail).toContain('ask for something else, or add such exits');
    expect(answer.field('retry-after')).toBeUndefined();
  });

  it('a request for less than any pool costs', async () => {
    const exit = await stage.good('a');
    const gateway = await stage.gateway([], {
      pools: { dear: { upstreams: [{ url: exit.url }], cost: { per_request: 1 } } },
      routes: [{ name: 'shop', pools: ['dear'], cost_ceiling: 0.5 }],
    });
    const answer = await ask(gateway, page);
    expect(answer.problem()).toMatchObject({ code: 'no_upstream', retryable: false });
    expect(answer.problem().detail).toMatch(/route shop may cost 0.5, .*raise cost_ceiling/);
    expect(answer.field('retry-after')).toBeUndefined();
  });

  it('but one that another pool has, which only has to rest, is waited for', async () => {
    const [plain, german] = [await stage.good('a'), await stage.exit((peer) => peer.reset())];
    const gateway = await stage.gateway([], {
      pools: {
        plain: { upstreams: [{ url: plain.url }] },
        german: { upstreams: [{ url: german.url, country: 'de' }] },
      },
      routes: [{ pools: ['german', 'plain'] }],
      bans: { max_ejected: 1 },
    });
    const asked = { fields: ['X-Turnpike-Country: de'] };
    for (let n = 0; n < 2; n++) await ask(gateway, `http://site-${n}.example/`, asked);
    const answer = await ask(gateway, page, asked);
    expect(answer.problem()).toMatchObject({ code: 'no_upstream', retryable: true });
    expect(Number(answer.field('retry-after'))).toBeGreaterThan(1);
  });
});
