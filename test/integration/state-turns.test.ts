/** What one gateway of a fleet does at a time: use an exit that rests, try one that comes back, ask whether a site is up. */
import { describe, expect, it } from 'vitest';
import { askAdmin } from '../support/admin.js';
import { ask, type Answer } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { jumpingClock } from '../support/jumping-clock.js';
import { passRedisMs } from '../support/real-redis.js';
import type { Peer, ScriptedUpstream } from '../support/scripted-upstream.js';
import { bansOf, eachHas, exitIdsOf, startSharedGateways } from '../support/shared-gateways.js';
import { createStage } from '../support/stage.js';
import { eventually, waitFor } from '../support/wait.js';

const stage = createStage();
const page = 'http://site.example/';

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
    const { gateways } = await startSharedGateways(stage, exits, {
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
    const { gateways } = await startSharedGateways(stage, exits, { pools: poolsOf(exits) });
    const fields = ['X-Session-Id: s1'];
    const answers = [];
    for (let n = 0; n < 6; n++) answers.push(await ask(gateways[n % 3] as TestGateway, page, { fields }));
    expect(new Set(answers.map(({ body }) => body.toString())).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(Math.min(...restsOf(site.log))).toBeGreaterThanOrEqual(248);
  });

  it('holds where exits are leased and go from gateway to gateway, without asking for turns', async () => {
    const site = createSite();
    const exits = await Promise.all(['one', 'two'].map((name) => site.exit(name)));
    const lease = { idle: '1s' };
    const pools = poolsOf(exits, { sharing: 'broker', lease, limits: { spacing: '800ms' } });
    const timeouts = { acquire: '20s' };
    const { gateways } = await startSharedGateways(stage, exits, { pools, timeouts }, { count: 2 });
    const sessions = [1, 2, 3, 4].map((n) => [`X-Session-Id: s${n}`]);
    for (let n = 0; n < 2; n++) {
      const gateway = gateways[n] as TestGateway;
      const answers = await Promise.all(sessions.map((fields) => ask(gateway, page, { fields })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    }
    expect(site.log).toHaveLength(8);
    expect(Math.min(...restsOf(site.log))).toBeGreaterThanOrEqual(798);
    for (const gateway of gateways)
      expect(await gateway.metrics()).toContain('turnpike_turns_total{event="taken"} 0');
  });

  it('costs one call that is waited for and one that is not, and none without spacing', async () => {
    const site = createSite();
    const exits = await Promise.all(['one', 'two'].map((name) => site.exit(name)));
    const { gateways } = await startSharedGateways(stage, exits, { pools: poolsOf(exits) }, { count: 2 });
    const taken = async (): Promise<string | undefined> =>
      /turnpike_turns_total\{event="taken"\} (\d+)/.exec((await gateways[0]?.metrics()) ?? '')?.[1];
    await ask(gateways[0] as TestGateway, page);
    expect(await taken()).toBe('1');
    const other = await startSharedGateways(stage, exits, {}, { count: 1 });
    await ask(other.gateways[0] as TestGateway, page);
    expect(await other.gateways[0]?.metrics()).toContain('turnpike_turns_total{event="taken"} 0');
  });

  it('S3 without Redis each gateway keeps to its own rests, and all serve', async () => {
    const site = createSite();
    const exits = await Promise.all(['one', 'two'].map((name) => site.exit(name)));
    const { redis, gateways } = await startSharedGateways(
      stage,
      exits,
      { pools: poolsOf(exits) },
      { count: 2 },
    );
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
    const { gateways } = await startSharedGateways(stage, exits);
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
    const fleet = await startSharedGateways(
      stage,
      exits,
      { timeouts: { acquire: '1ms' } },
      { parts: { clock } },
    );
    const [first] = fleet.gateways as [TestGateway];
    const [exit = ''] = await exitIdsOf(first);
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
