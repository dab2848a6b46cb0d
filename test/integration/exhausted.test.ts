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
