/** What one gateway of a fleet does at a time: use an exit that rests, try one that comes back, ask whether a site is up. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { adminSection, askAdmin } from '../support/admin.js';
import { ask, type Answer } from '../support/ask.js';
import type { GatewayOptions, TestGateway } from '../support/gateway.js';
import { jumpingClock } from '../support/jumping-clock.js';
import { passRedisMs, startRedis, type RealRedis } from '../support/real-redis.js';
import type { Peer, ScriptedUpstream } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';
import { eventually, waitFor } from '../support/wait.js';

const stage = createStage();
const page = 'http://site.example/';

let seeds = 10;

/** Gateways that share a Redis of their own, and know each other. */
async function startFleet(
  exits: readonly ScriptedUpstream[],
  config: GatewayOptions['config'] = {},
  how: { readonly count?: number; readonly parts?: GatewayOptions['parts'] } = {},
): Promise<{ redis: RealRedis; gateways: TestGateway[]; join: () => Promise<TestGateway> }> {
  const redis = stage.keep(await startRedis());
  const state = { kind: 'redis', url: `redis://127.0.0.1:${redis.port}`, secret: 'a secret of the fleet' };
  const join = (): Promise<TestGateway> => {
    const parts = { ...how.parts, random: seededRandom(seeds++) };
    return stage.gateway(exits, { admin: adminSection, state, ...config }, { parts });
  };
  const gateways = await Promise.all(Array.from({ length: how.count ?? 3 }, join));
  const count = new RegExp(`^turnpike_state_gateways ${gateways.length}$`, 'm');
  for (const gateway of gateways)
    await eventually('all to find each other', async () => count.test(await gateway.metrics()));
  return { redis, gateways, join };
}

/** What the site saw of an exit: when a request came, and when it was answered. */
interface Touch {
  readonly exit: string;
  readonly atMs: number;
  answeredMs: number;
}

function createSite() {
  const log: Touch[] = [];
  return {
    log,
    exit: (name: string, answer: () => Promise<string> | string = () => '200 OK') =>
      stage.exit(async (peer: Peer) => {
        const touch = { exit: name, atMs: performance.now(), answeredMs: Infinity };
        log.push(touch);
        const status = await answer();
        touch.answeredMs = performance.now();
        peer.answer(name, status);
      }),
  };
}

/** From each answer to the next request through the same exit. */
function restsOf(log: readonly Touch[]): number[] {
  return [...new Set(log.map(({ exit }) => exit))].flatMap((exit) => {
    const touches = log.filter((touch) => touch.exit === exit);
    return touches.slice(1).map(({ atMs }, n) => atMs - (touches[n]?.answeredMs ?? 0));
  });
}

const idsOf = async (gateway: TestGateway): Promise<string[]> =>
  ((await askAdmin(gateway.adminPort, '/api/v1/upstreams')).body.items as { id: string }[]).map(
    ({ id }) => id,
  );
const bansOf = async (gateway: TestGateway): Promise<Record<string, unknown>[]> =>
  (await askAdmin(gateway.adminPort, '/api/v1/bans')).body.items as Record<string, unknown>[];
const eachHas = (gateways: readonly TestGateway[], bans: number): Promise<void> =>
  eventually(`${bans} bans at each`, async () =>
    (await Promise.all(gateways.map(bansOf))).every(({ length }) => length === bans),
  );
const through = (gateway: TestGateway, exit: string): Promise<Answer> =>
  ask(gateway, page, { fields: [`X-Turnpike-Upstream: ${exit}`] });

describe('N7 spacing of a pool that every gateway uses', () => {
  const limits = { spacing: '250ms' };
  const poolsOf = (exits: readonly ScriptedUpstream[], more: Record<string, unknown> = {}) => ({
    main: { upstreams: exits.map(({ url }) => ({ url })), limits, ...more },
  });

  it('holds fleet-wide, from each answer to the next request, by the log of the site', async () => {
    const site = createSite();
    const slowly = (): Promise<string> => new Promise((done) => setTimeout(() => done('200 OK'), 20));
    const exits = await Promise.all(['one', 'two', 'three'].map((name) => site.exit(name, slowly)));
    const { gateways } = await startFleet(exits, {
      pools: poolsOf(exits),
      timeouts: { acquire: '30s' },
    });
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => ask(gateways[n % 3] as TestGateway, `${page}${n}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const rests = restsOf(site.log);
    expect(rests).toHaveLength(21);
    expect(Math.min(...rests)).toBeGreaterThanOrEqual(248);
  });

  it('a session stays on its exit, wherever its requests come in', async () => {
    const site = createSite();
    const exits = await Promise.all(['one', 'two'].map((name) => site.exit(name)));
    const { gateways } = await startFleet(exits, { pools: poolsOf(exits) });
    const fields = ['X-Session-Id: s1'];
    const answers = [];
    for (let n = 0; n < 6; n++) answers.push(await ask(gateways[n % 3] as TestGateway, page, { fields }));
    expect(new Set(answers.map(({ body }) => body.toString())).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(Math.min(...restsOf(site.log))).toBeGreaterThanOrEqual(248);
  });

  it('costs one call that is waited for and one that is not, and none without spacing', async () => {
    const site = createSite();
    const exits = await Promise.all(['one', 'two'].map((name) => site.exit(name)));
    const { gateways } = await startFleet(exits, { pools: poolsOf(exits) }, { count: 2 });
    const taken = async (): Promise<string | undefined> =>
      /turnpike_turns_total\{event="taken"\} (\d+)/.exec((await gateways[0]?.metrics()) ?? '')?.[1];
    await ask(gateways[0] as TestGateway, page);
    expect(await taken()).toBe('1');
    const other = await startFleet(exits, {}, { count: 1 });
    await ask(other.gateways[0] as TestGateway, page);
    expect(await other.gateways[0]?.metrics()).toContain('turnpike_turns_total{event="taken"} 0');
  });

  it('S3 without Redis each gateway keeps to its own rests, and all serve', async () => {
    const site = createSite();
    const exits = await Promise.all(['one', 'two'].map((name) => site.exit(name)));
    const { redis, gateways } = await startFleet(exits, { pools: poolsOf(exits) }, { count: 2 });
    await redis.close();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => ask(gateways[n % 2] as TestGateway, page)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  it('N7 B11 a Retry-After that one gateway got is kept by all', async () => {
    const site = createSite();
    let isAngry = true;
    const exits = [await site.exit('one', () => (isAngry ? '429 Too Many\r\nRetry-After: 60' : '200 OK'))];
    const { gateways } = await startFleet(exits);
    expect((await ask(gateways[0] as TestGateway, page)).status).toBe(429);
    isAngry = false;
    await eachHas(gateways, 1);
    const told = await Promise.all(gateways.map((gateway) => ask(gateway, page)));
    expect(told.map(({ status }) => status)).toEqual([503, 503, 503]);
    for (const each of told) expect(Number(each.field('retry-after'))).toBeGreaterThan(50);
    expect(site.log).toHaveLength(1);
  });
});

describe('S4 B10 an exit whose ban has ended', () => {
  /** A gate at which answers wait. */
  function gate() {
    let open = (_: string): void => undefined;
    const opened = new Promise<string>((resolve) => (open = resolve));
    return { opened, open: (status = '200 OK') => open(status) };
  }

  async function banned(answer: () => Promise<string> | string) {
    const site = createSite();
    const clock = jumpingClock();
    const exits = [await site.exit('one', answer)];
    const fleet = await startFleet(exits, { timeouts: { acquire: '1ms' } }, { parts: { clock } });
    const [first] = fleet.gateways as [TestGateway];
    const [exit = ''] = await idsOf(first);
    const order = { exit, site: 'site.example', ttl: '10m', reason: 'test' };
    const done = await askAdmin(first.adminPort, '/api/v1/bans', { method: 'POST', body: order });
    expect(done.status).toBeLessThan(300);
    await eachHas(fleet.gateways, 1);
    clock.jump(600_001);
    return { ...fleet, site, exit, clock };
  }

  it('is tried by one request of all gateways, and a good answer brings it back at all', async () => {
    const { opened, open } = gate();
    const { gateways, site, exit } = await banned(() => opened);
    const all = gateways.flatMap((gateway) => [through(gateway, exit), through(gateway, exit)]);
    const refused = all.map(async (answer) => (await answer).status);
    await waitFor('the trial', () => site.log.length === 1);
    await eventually('the others to be told', async () => {
      const counts = await Promise.all(gateways.map((each) => each.metrics()));
      return counts.filter((text) => /turns_total\{event="refused"\} [1-9]/.test(text)).length === 2;
    });
    expect(site.log).toHaveLength(1);
    open();
    expect((await Promise.all(refused)).sort()).toEqual([200, 503, 503, 503, 503, 503]);
    await eachHas(gateways, 0);
    const again = await Promise.all(gateways.map((gateway) => through(gateway, exit)));
    expect(again.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it('a bad answer sets it aside again at all, and nobody else tries', async () => {
    const { gateways, site, exit } = await banned(() => '429 Too Many\r\nRetry-After: 60');
    await Promise.all(gateways.map((gateway) => through(gateway, exit)));
    await eventually('all to know', async () => {
      const left = await Promise.all(gateways.map(bansOf));
      return left.every(([ban]) => ban?.['strikes'] !== undefined && ban['phase'] === 'out');
    });
    await Promise.all(gateways.map((gateway) => through(gateway, exit)));
    expect(site.log).toHaveLength(1);
  });

  it('is free for another trial when the gateway that tried it has died', async () => {
    const { opened, open } = gate();
    const { gateways, site, exit, redis, clock } = await banned(() => opened);
    const [first, second] = gateways as [TestGateway, TestGateway];
    const lost = through(first, exit).catch(() => null);
    await waitFor('the trial', () => site.log.length === 1);
    expect((await through(second, exit)).status).toBe(503);
    clock.jump(2000);
    expect((await through(second, exit)).status).toBe(503);
    await passRedisMs(redis.admin, 60_001);
    clock.jump(2000);
    const next = through(second, exit);
    await waitFor('the second trial', () => site.log.length === 2);
    open();
    expect((await next).status).toBe(200);
    await lost;
  });
});

describe('S7 a site that is down', () => {
  it('is down for all by the word of one, its bans are rolled back everywhere, and one canary of all looks', async () => {
    let isDown = false;
    let asked = 0;
    const exits = await Promise.all(
      Array.from({ length: 8 }, () =>
        stage.exit((peer, { head }) => {
          asked++;
          if (!isDown) peer.answer('page');
          else if (head.includes('POST')) peer.answer('no', '403 Forbidden');
          else peer.answer('down', '503 Service Unavailable');
        }),
      ),
    );
    const clock = jumpingClock();
    const { gateways } = await startFleet(exits, {}, { parts: { clock } });
    const [first, second, third] = gateways as [TestGateway, TestGateway, TestGateway];
    const ids = await idsOf(first);
    isDown = true;
    for (const [gateway, exit] of [[first, 0] as const, [second, 1] as const])
      for (let n = 0; n < 2; n++) {
        const fields = [`X-Turnpike-Upstream: ${ids[exit] ?? ''}`];
        await ask(gateway, page, { method: 'POST', body: 'x', fields });
      }
    await eachHas(gateways, 2);
    for (let n = 0; n < 4; n++) await ask(first, page);
    expect(await first.event('site_guarded')).toMatchObject({ change: 'site_down', isHeard: false });
    for (const gateway of [second, third])
      expect(await gateway.event('site_guarded')).toMatchObject({ change: 'site_down', isHeard: true });
    await eachHas(gateways, 0);
    asked = 0;
    const told = await Promise.all(gateways.map((gateway) => ask(gateway, page)));
    expect(told.map((each) => each.problem().code)).toEqual(told.map(() => 'target_failed'));
    expect(asked).toBe(0);
    clock.jump(5001);
    await Promise.all([...gateways, ...gateways].map((gateway) => ask(gateway, page)));
    expect(asked).toBe(1);
  });

  it('is up for all when the canary of one comes back well', async () => {
    let isDown = true;
    const exits = await Promise.all(
      Array.from({ length: 6 }, () =>
        stage.exit((peer) => void peer.answer('page', isDown ? '503 Service Unavailable' : '200 OK')),
      ),
    );
    const clock = jumpingClock();
    const { gateways } = await startFleet(exits, {}, { parts: { clock }, count: 2 });
    const [first, second] = gateways as [TestGateway, TestGateway];
    for (let n = 0; n < 4; n++) await ask(first, page);
    await second.event('site_guarded');
    isDown = false;
    clock.jump(5001);
    expect((await ask(second, page)).status).toBe(200);
    await first.event('site_guarded', ({ change, isHeard }) => change === 'site_up' && isHeard);
    expect((await ask(first, page)).status).toBe(200);
  });

  it('B01 a rule that fires on everything is suspended by all', async () => {
    const exits = await Promise.all(
      Array.from({ length: 8 }, () => stage.exit((peer) => void peer.answer('a shop'))),
    );
    const rules = [{ name: 'too-much', when: { body: { contains: 'shop' } }, then: ['ban', 'retry'] }];
    const config = { rules, bans: { max_ejected: 1 } };
    const { gateways } = await startFleet(exits, config, { count: 2 });
    const [first, second] = gateways as [TestGateway, TestGateway];
    await ask(first, page);
    await ask(first, page);
    await first.event('site_guarded');
    expect(await second.event('site_guarded')).toMatchObject({
      ...{ change: 'rule_suspended', rule: 'rule too-much', isHeard: true },
    });
    await eachHas(gateways, 0);
    expect((await ask(second, page)).status).toBe(200);
    expect(await bansOf(second)).toEqual([]);
  });
});
