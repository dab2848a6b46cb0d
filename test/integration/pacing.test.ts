/** Rest between two uses of an exit for a site, waiting in turn, and pools by cost: with real sockets. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin } from '../support/admin.js';
import { ask, type Answer } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import type { ScriptedUpstream } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();

/** What a site writes down: when which exit asked for what. */
interface Visit {
  readonly exit: string;
  readonly path: string;
  readonly atMs: number;
}

interface Site {
  readonly log: Visit[];
  exit(name: string, answer?: () => Promise<string> | string): Promise<ScriptedUpstream>;
}

/** A site behind scripted exits, which writes down every request with its time. */
function createSite(): Site {
  const log: Visit[] = [];
  return {
    log,
    exit: (name, answer = () => '200 OK') =>
      stage.exit(async (peer, { head }) => {
        const path = /^GET http:\/\/[^/]+(\S*)/.exec(head)?.[1] ?? '';
        log.push({ exit: name, path, atMs: performance.now() });
        peer.answer(name, await answer());
      }),
  };
}

/** Between two requests through the same exit, as the site sees it. */
function gapsOf(log: readonly Visit[], exit: string): number[] {
  const times = log.filter((visit) => visit.exit === exit).map(({ atMs }) => atMs);
  return times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
}

function poolsOf(exits: readonly ScriptedUpstream[], more: Record<string, unknown>): Record<string, unknown> {
  return { main: { upstreams: exits.map(({ url }) => ({ url })), ...more } };
}

function login(name: string): string {
  return `Proxy-Authorization: Basic ${Buffer.from(`${name}:long-enough-secret`).toString('base64')}`;
}

const clients = ['big', 'small'].map((name) => ({ name, password: 'long-enough-secret' }));

async function waiting(gateway: TestGateway): Promise<number> {
  return Number(/^turnpike_requests_waiting (\d+)$/m.exec(await gateway.metrics())?.[1] ?? -1);
}

describe('N7 spacing', () => {
  it.each(['round_robin', 'random', 'least_used', 'least_recently_used_per_site', 'fastest', 'adaptive'])(
    'no exit touches a site twice within it, by the log of the site (%s)',
    async (strategy) => {
      const site = createSite();
      const exits = [await site.exit('one'), await site.exit('two'), await site.exit('three')];
      const gateway = await stage.gateway(exits, {
        pools: poolsOf(exits, { strategy, limits: { spacing: '200ms' } }),
      });
      const answers = await Promise.all(
        Array.from({ length: 9 }, (_, n) => ask(gateway, `http://shop.example/${n}`)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 200));
      for (const exit of ['one', 'two', 'three']) {
        expect(site.log.filter((visit) => visit.exit === exit)).toHaveLength(3);
        for (const gap of gapsOf(site.log, exit)) expect(gap).toBeGreaterThanOrEqual(199);
      }
    },
  );

  it('is for each site apart, and holds for a session on its exit', async () => {
    const site = createSite();
    const exits = [await site.exit('one')];
    const gateway = await stage.gateway(exits, { pools: poolsOf(exits, { limits: { spacing: '300ms' } }) });
    const session = ['X-Session-Id: s1'];
    await Promise.all([
      ask(gateway, 'http://shop.example/1', { fields: session }),
      ask(gateway, 'http://other.example/1', { fields: session }),
      ask(gateway, 'http://shop.example/2', { fields: session }),
    ]);
    expect(site.log[1]?.atMs).toBeLessThan((site.log[0]?.atMs ?? 0) + 300);
    expect((site.log[2]?.atMs ?? 0) - (site.log[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(299);
  });

  it('B02 B11 who would wait too long is told at once, with the time', async () => {
    const site = createSite();
    const exits = [await site.exit('one')];
    const gateway = await stage.gateway(exits, {
      pools: poolsOf(exits, { limits: { spacing: '60s' } }),
      timeouts: { acquire: '1s' },
    });
    await ask(gateway, 'http://shop.example/1');
    const refused = await ask(gateway, 'http://shop.example/2');
    expect(refused.problem()).toMatchObject({ code: 'no_upstream', status: 503 });
    expect(refused.problem().detail).toContain('have to rest from the site');
    expect(Number(refused.field('retry-after'))).toBeGreaterThan(55);
  });

  it('a queue past its deadline answers', async () => {
    const site = createSite();
    const exits = [await site.exit('one')];
    const gateway = await stage.gateway(exits, {
      pools: poolsOf(exits, { limits: { spacing: '400ms' } }),
      timeouts: { acquire: '600ms' },
    });
    const answers = await Promise.all(
      Array.from({ length: 5 }, (_, n) => ask(gateway, `http://shop.example/${n}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 503, 503, 503]);
    for (const answer of answers.filter(({ status }) => status === 503))
      expect(Number(answer.field('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await waiting(gateway)).toBe(0);
  });

  it('two clients that queue get equal shares, whoever came first and with more', async () => {
    const site = createSite();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const exits = [await site.exit('one', () => held.then(() => '200 OK'))];
    const gateway = await stage.gateway(exits, {
      clients,
      pools: poolsOf(exits, { limits: { spacing: '20ms' } }),
    });
    const from = (name: string, count: number): Promise<Answer>[] =>
      Array.from({ length: count }, (_, n) =>
        ask(gateway, `http://shop.example/${name}/${n}`, { fields: [login(name)] }),
      );
    const big = from('big', 10);
    let seen = 0;
    void (async () => {
      while (seen < 9) seen = await waiting(gateway);
    })();
    await waitFor('nine of them to wait', () => seen >= 9);
    const small = from('small', 4);
    seen = 0;
    void (async () => {
      while (seen < 13) seen = await waiting(gateway);
    })();
    await waitFor('all to wait', () => seen >= 13);
    release();
    const answers = await Promise.all([...big, ...small]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const order = site.log.map(({ path }) => path.split('/')[1]);
    const small8 = order.slice(1, 9).filter((name) => name === 'small');
    expect(small8).toHaveLength(4);
  });

  it('slots of a site hold back what is too much for it', async () => {
    const site = createSite();
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const exits = [
      await site.exit('one', () => held.then(() => '200 OK')),
      await site.exit('two', () => held.then(() => '200 OK')),
    ];
    const gateway = await stage.gateway(exits, { pools: poolsOf(exits, { limits: { site_slots: 2 } }) });
    const asked = Array.from({ length: 4 }, (_, n) => ask(gateway, `http://shop.example/${n}`));
    let seen = 0;
    void (async () => {
      while (seen < 2) seen = await waiting(gateway);
    })();
    await waitFor('two to wait and two at the site', () => seen >= 2 && site.log.length >= 2);
    expect(site.log).toHaveLength(2);
    release();
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('a retry waits for an exit to have rested, and the client sees the good page', async () => {
    const site = createSite();
    let tries = 0;
    const answer = (): string => (tries++ === 2 ? '429 Too Many Requests' : '200 OK');
    const exits = [await site.exit('one', answer), await site.exit('two', answer)];
    const gateway = await stage.gateway(exits, { pools: poolsOf(exits, { limits: { spacing: '300ms' } }) });
    await Promise.all([ask(gateway, 'http://shop.example/1'), ask(gateway, 'http://shop.example/2')]);
    const third = await ask(gateway, 'http://shop.example/3');
    expect([third.status, third.field('x-turnpike-attempts')]).toEqual([200, '2']);
  });
});

describe('N9 S8 escalation by cost', () => {
  const explain = ['X-Turnpike-Explain: on'];

  async function costlyStage(budget: number | undefined) {
    const site = createSite();
    let isBlocked = true;
    const cheap = await site.exit('cheap', () => (isBlocked ? '403 Forbidden' : '200 OK'));
    const dear = await site.exit('dear');
    const gateway = await stage.gateway([], {
      pools: {
        cheap: { upstreams: [{ url: cheap.url }] },
        dear: {
          upstreams: [{ url: dear.url }],
          cost: { per_request: 0.5, ...(budget === undefined ? {} : { per_day: budget }) },
        },
      },
      routes: [
        {
          name: 'shop',
          pools: ['cheap', 'dear'],
          retries: 0,
          escalate: { block_rate: 0.3, least: 4, canary: 0.25 },
        },
      ],
      bans: { suspect_count: 1000 },
      admin: adminSection,
    });
    const get = (n: number): Promise<Answer> => ask(gateway, `http://shop.example/${n}`, { fields: explain });
    const getMany = async (count: number): Promise<Answer[]> => {
      const answers: Answer[] = [];
      for (let n = 0; n < count; n++) answers.push(await get(n));
      return answers;
    };
    return { site, gateway, getMany, calmDown: () => (isBlocked = false) };
  }

  it('goes to the dear pool where the cheap one is blocked, and comes back when that works again', async () => {
    const { gateway, getMany, calmDown } = await costlyStage(undefined);
    const first = await getMany(12);
    expect(first.slice(0, 4).map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    expect(first[4]?.body.toString()).toBe('dear');
    expect(first[4]?.field('x-turnpike-explain')).toBe(
      'route=shop; pool=dear; exit=strategy; why=cheap is blocked: 100 % of 4 tries blocked',
    );
    expect(
      first.some((answer) => answer.field('x-turnpike-explain')?.includes('canary: does cheap work')),
    ).toBe(true);
    expect((await askAdmin(gateway.adminPort, '/api/v1/status')).body.tiers).toEqual([
      {
        ...{ route: 'shop', site: 'shop.example', pool: 'dear' },
        why: 'cheap is blocked: 100 % of 4 tries blocked',
      },
    ]);
    expect(await gateway.event('pool_changed')).toMatchObject({
      route: 'shop',
      site: 'shop.example',
      from: 'cheap',
      to: 'dear',
    });
    calmDown();
    await getMany(80);
    const back = await gateway.event('pool_changed', ({ to }) => to === 'cheap');
    expect(back.why).toMatch(/^cheap works again/);
    const after = await getMany(5);
    expect(after.map(({ body }) => body.toString())).toEqual(Array.from({ length: 5 }, () => 'cheap'));
    expect((await askAdmin(gateway.adminPort, '/api/v1/status')).body.tiers).toEqual([]);
    expect(await gateway.metrics()).toContain('turnpike_pool_changes_total{route="shop",to="cheap"} 1');
  });

  it("stops at the day's budget: not one request more, and it is said why", async () => {
    const { site, gateway, getMany } = await costlyStage(3);
    const answers = await getMany(40);
    expect(site.log.filter(({ exit }) => exit === 'dear')).toHaveLength(6);
    const last = answers.at(-1);
    expect([last?.status, last?.body.toString()]).toEqual([403, 'cheap']);
    expect(last?.field('x-turnpike-explain')).toContain('why=no budget left for dear, which would serve');
    expect(await gateway.metrics()).toContain('turnpike_pool_spent_today{pool="dear"} 3');
    const ended = await gateway.event(
      'exchange_ended',
      ({ poolWhy }) => poolWhy?.startsWith('no budget') === true,
    );
    expect(ended.pool).toBe('cheap');
  });

  it('a request may not cost more than its route says, and a route without money left says so', async () => {
    const site = createSite();
    const dear = await site.exit('dear', () => '403 Forbidden');
    const other = await site.exit('other');
    const gateway = await stage.gateway([], {
      pools: {
        dear: { upstreams: [{ url: dear.url }, { url: other.url }], cost: { per_request: 1, per_day: 3 } },
      },
      routes: [{ pools: ['dear'], retries: 5, cost_ceiling: 1 }],
    });
    const once = await ask(gateway, 'http://shop.example/');
    expect([once.status, once.field('x-turnpike-attempts')]).toEqual([403, '1']);
    await ask(gateway, 'http://shop.example/');
    await ask(gateway, 'http://shop.example/');
    const broke = await ask(gateway, 'http://shop.example/');
    expect(broke.problem()).toMatchObject({ code: 'no_upstream', status: 503 });
    expect(broke.problem().detail).toContain('budget');
    expect(Number(broke.field('retry-after'))).toBeGreaterThan(0);
    expect(site.log).toHaveLength(3);
  });
});
