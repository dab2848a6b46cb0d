/** Exits that fail are set aside and come back by themselves; what is not their fault does them no harm. */
import { describe, expect, it } from 'vitest';
import { ask, connect, startExit, type Answer } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { refusedPort, type Peer } from '../support/scripted-upstream.js';
import { jumpingClock } from '../support/jumping-clock.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const page = 'http://site.example/';
const refusing = async (): Promise<string> => `http://127.0.0.1:${await refusedPort()}`;

const bansIn = (gateway: TestGateway) => gateway.events.filter((event) => event.type === 'exit_banned');
const attemptsIn = (gateway: TestGateway) => gateway.events.filter((event) => event.type === 'attempt_ended');

/** So many requests, one after the other. */
async function many(count: number, gateway: TestGateway, url: (n: number) => string): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let n = 0; n < count; n++) answers.push(await ask(gateway, url(n)));
  return answers;
}

/** Speaks into a tunnel until it ends. */
async function speakInto(gateway: TestGateway, target: string): Promise<void> {
  const { client, answer } = await connect(gateway, target);
  expect(answer.status).toBe(200);
  client.write('hello');
  await client.ended();
  client.destroy();
}

describe('B04 an exit that refuses', () => {
  it('is asked once, and no more until its time is over', async () => {
    const good = await Promise.all(Array.from({ length: 9 }, (_, n) => stage.good(`exit-${n}`)));
    const gateway = await stage.gateway([await refusing(), ...good]);
    const answers = await many(100, gateway, () => page);
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
    const failed = attemptsIn(gateway).filter((attempt) => attempt.verdict !== 'ok');
    expect(failed.map((attempt) => [attempt.reason, attempt.retried])).toEqual([['refused', true]]);
    expect(bansIn(gateway)).toMatchObject([{ reason: 'refused', site: null, strikes: 1 }]);
    const metrics = await gateway.metrics();
    expect(metrics).toMatch(/turnpike_exits\{pool="main",state="out"\} 1/);
    expect(metrics).toMatch(/turnpike_bans_total\{scope="exit".*\} 1/);
    expect(metrics).toMatch(/turnpike_retries_total\{pool="main"\} 1/);
  });
});

describe('G8 an exit comes back by itself', () => {
  it('after its time, with one request that tries it', async () => {
    let isDown = true;
    const flaky = stage.keep(
      await startExit((peer) =>
        isDown ? peer.reset() : void peer.answer('flaky', '200 OK', ['Connection: close']),
      ),
    );
    const clock = jumpingClock();
    const gateway = await stage.gateway([flaky, await stage.good('good')], {}, { parts: { clock } });
    // Every second request meets the flaky one; with two sites its faults are its own.
    await many(8, gateway, (n) => `http://site-${n}.example/`);
    const { forMs } = await gateway.event('exit_banned');
    expect(forMs).toBeGreaterThanOrEqual(30_000);
    const whileOut = flaky.accepts;
    isDown = false;
    await many(4, gateway, () => page);
    expect(flaky.accepts).toBe(whileOut);
    clock.jump(forMs);
    const trial = await many(2, gateway, () => page);
    expect(trial.map((answer) => answer.body.toString()).sort()).toEqual(['flaky', 'good']);
    const back = await many(4, gateway, () => page);
    expect(back.filter((answer) => answer.body.toString() === 'flaky').length).toBe(2);
  });
});

describe('B02 every exit set aside', () => {
  it('is told at once, with the time of the first return', async () => {
    const gateway = await stage.gateway([await refusing(), await refusing()], { bans: { max_ejected: 1 } });
    await ask(gateway, page);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(gateway, page)));
    const tunnel = await connect(gateway, 'site.example:443');
    tunnel.client.destroy();
    for (const answer of [...answers, tunnel.answer]) {
      expect(answer.status).toBe(503);
      expect(answer.problem()).toMatchObject({ code: 'no_upstream', blame: 'gateway', retryable: true });
      const seconds = Number(answer.field('retry-after'));
      expect(seconds).toBeGreaterThan(20);
      expect(seconds).toBeLessThanOrEqual(36);
    }
    expect(await gateway.close()).toEqual({ cut: 0 });
  });

  it('is waited for where the time is short', async () => {
    let isDown = true;
    const exit = await stage.exit((peer) => (isDown ? peer.reset() : void peer.answer('back')));
    const gateway = await stage.gateway([exit], { bans: { transport: '300ms', jitter: 0 } });
    await many(2, gateway, (n) => `http://site-${n}.example/`);
    expect(bansIn(gateway).length).toBe(1);
    isDown = false;
    expect((await ask(gateway, page)).body.toString()).toBe('back');
  });
});

describe('B04 names that nobody has, through proxies that close without a word', () => {
  it('cost no exit, plain and by CONNECT, while closes at sites that others reach still do', async () => {
    let isBroken = false;
    const closing = (peer: Peer, { head }: { head: string }): void => {
      if (head.includes('dead-') || isBroken) peer.end();
      else if (head.startsWith('CONNECT')) peer.write('HTTP/1.1 200 OK\r\n\r\n').echo();
      else peer.answer('page');
    };
    const exits = await Promise.all([stage.exit(closing), stage.exit(closing)]);
    const gateway = await stage.gateway([
      ...exits,
      await stage.exit((peer, { head }) => {
        if (head.includes('dead-')) peer.end();
        else peer.answer('page');
      }),
    ]);
    for (const { status } of await many(10, gateway, (n) => `http://dead-${n}.example/`))
      expect(status).toBe(502);
    for (let n = 0; n < 6; n++) (await connect(gateway, `dead-${n}.example:443`)).client.destroy();
    expect(bansIn(gateway)).toEqual([]);
    isBroken = true;
    await many(8, gateway, (n) => `http://site-${n}.example/`);
    expect(bansIn(gateway)).toMatchObject([{ reason: 'silent', site: null }]);
  });
});

describe('B05 an exit whose tunnels are silent', () => {
  const silent = (peer: Peer): void => void peer.write('HTTP/1.1 200 OK\r\n\r\n');
  const ending = (peer: Peer): void => {
    peer.write('HTTP/1.1 200 OK\r\n\r\n');
    peer.end();
  };
  it.each([
    ['says nothing', silent],
    ['ends at once', ending],
  ])('%s: out after two sites, or after five times on one', async (_name, script) => {
    const timeouts = { tunnel_idle: '150ms', half_close: '150ms' };
    for (const targets of [
      ['a.example:443', 'b.example:443'],
      Array.from({ length: 5 }, () => 'a.example:443'),
    ]) {
      const gateway = await stage.gateway([await stage.exit(script)], { timeouts });
      for (const [index, target] of targets.entries()) {
        expect(bansIn(gateway).length, `before tunnel ${index}`).toBe(0);
        await speakInto(gateway, target);
      }
      expect(await gateway.event('exit_banned')).toMatchObject({ reason: 'silent', site: null });
      const { client, answer } = await connect(gateway, 'c.example:443');
      client.destroy();
      expect(answer.problem().code).toBe('no_upstream');
    }
  });

  it('is not blamed for clients that leave at once', async () => {
    const exit = await stage.exit(silent);
    const gateway = await stage.gateway([exit]);
    for (let n = 0; n < 10; n++) {
      const { client, answer } = await connect(gateway, `site-${n}.example:443`);
      expect(answer.status).toBe(200);
      client.write('hello');
      await (await exit.peer(n)).until('hello');
      client.reset();
      await (await exit.peer(n)).gone();
    }
    await gateway.event('exchange_ended', (event) => event.target === 'site-9.example:443');
    expect(bansIn(gateway)).toEqual([]);
  });

  it('is blamed by clients that have waited', async () => {
    const exit = await stage.exit(silent);
    const clock = jumpingClock();
    const gateway = await stage.gateway([exit], {}, { parts: { clock } });
    for (let n = 0; n < 2; n++) {
      const { client } = await connect(gateway, `site-${n}.example:443`);
      client.write('hello');
      await (await exit.peer(n)).until('hello');
      clock.jump(6000);
      client.reset();
    }
    expect(await gateway.event('exit_banned')).toMatchObject({ reason: 'silent' });
  });
});

describe('B07 one page that says 403', () => {
  const site = (peer: Peer, { head }: { head: string }): void => {
    if (head.includes('/private')) peer.answer('private', '403 Forbidden');
    else peer.answer('page');
  };
  it.each([1, 4])('with %i exits: nobody is set aside, every page arrives', async (count) => {
    const exits = await Promise.all(Array.from({ length: count }, () => stage.exit(site)));
    const gateway = await stage.gateway(exits);
    const answers = await many(100, gateway, (n) => `http://site.example/${n % 2 === 0 ? 'ok' : 'private'}`);
    expect(answers.map((answer) => answer.status)).toEqual(answers.map((_, n) => (n % 2 === 0 ? 200 : 403)));
    expect(bansIn(gateway)).toEqual([]);
  });

  it('an exit that alone gets 403 is set aside for that site only', async () => {
    const blocked = await stage.exit(
      (peer, { head }) =>
        void (head.includes('site.example') ? peer.answer('no', '403 Forbidden') : peer.answer('blocked')),
    );
    const gateway = await stage.gateway([blocked, await stage.good('good')]);
    const answers = await many(10, gateway, () => page);
    expect(new Set(answers.map((answer) => answer.body.toString()))).toEqual(new Set(['good']));
    expect(bansIn(gateway)).toMatchObject([{ site: 'site.example', reason: 'suspect' }]);
    expect(blocked.heads.length).toBe(1);
    const elsewhere = await many(2, gateway, () => 'http://other.example/');
    expect(elsewhere.map((answer) => answer.body.toString()).sort()).toEqual(['blocked', 'good']);
  });
});

describe('B19 a 502 is not always the proxy', () => {
  it("the target's own arrives, and its exits stay", async () => {
    const exits = await Promise.all(
      [1, 2].map(() => stage.exit((p) => void p.answer('site broken', '502 Bad', ['X-Site: 1']))),
    );
    const gateway = await stage.gateway(exits);
    for (const answer of await many(4, gateway, () => page)) {
      expect([answer.status, answer.body.toString(), answer.field('x-site')]).toEqual([
        502,
        'site broken',
        '1',
      ]);
    }
    expect(bansIn(gateway)).toEqual([]);
  });

  it("the upstream's own is tried elsewhere, plain and CONNECT", async () => {
    const mark = ['X-Squid-Error: ERR_CANNOT_FORWARD 0'];
    const broken = () => stage.exit((peer) => void peer.answer('squid', '502 Bad', mark));
    for (const isTunnel of [false, true]) {
      const gateway = await stage.gateway([await broken(), await stage.good('good')]);
      const { client, answer } = isTunnel
        ? await connect(gateway, 'site.example:443')
        : { client: null, answer: await ask(gateway, page) };
      client?.destroy();
      expect([answer.status, answer.field('x-turnpike-attempts')]).toEqual([200, '2']);
    }
  });
});

describe('B20 a target that does not exist', () => {
  it('is told as such, without another try, and harms no exit', async () => {
    const dns = (peer: Peer, { head }: { head: string }): void => {
      if (head.includes('nx.test')) peer.answer('none', '503 No', ['X-Squid-Error: ERR_DNS_FAIL 0']);
      else peer.answer('ok');
    };
    const exits = [await stage.exit(dns), await stage.exit(dns)];
    const gateway = await stage.gateway(exits);
    for (let n = 0; n < 6; n++) {
      const { client, answer } = await connect(gateway, 'nx.test:443');
      client.destroy();
      expect(answer.problem()).toMatchObject({ code: 'target_dns', blame: 'target' });
      expect(answer.field('x-turnpike-attempts')).toBe('1');
    }
    expect(bansIn(gateway)).toEqual([]);
    const answers = await many(4, gateway, () => page);
    expect(new Set(answers.map((answer) => answer.field('x-turnpike-upstream'))).size).toBe(2);
  });
});

describe('B21 a site that asks for a proxy login itself', () => {
  it('takes from no other site the exits whose login was good elsewhere', async () => {
    const asking = (peer: Peer, { head }: { head: string }): void => {
      const challenge = ['Proxy-Authenticate: Basic realm="site"'];
      if (head.includes('asks.example')) peer.answer('who?', '407 Proxy Authentication Required', challenge);
      else peer.answer('ok');
    };
    const exits = await Promise.all(Array.from({ length: 4 }, () => stage.exit(asking)));
    const gateway = await stage.gateway(exits.map((exit) => exit.loginUrl('bob', 'pw')));
    await many(8, gateway, () => page);
    for (const answer of await many(12, gateway, () => 'http://asks.example/'))
      expect(answer.status).toBe(502);
    expect(bansIn(gateway).filter(({ site }) => site !== 'asks.example')).toEqual([]);
    const after = await many(8, gateway, () => page);
    expect(new Set(after.map((answer) => answer.field('x-turnpike-upstream'))).size).toBe(4);
  });
});

describe('B11 a Retry-After', () => {
  it('that is a date is kept by our clock, where the answer has none of its own', async () => {
    const until = new Date(Date.now() + 600_000).toUTCString();
    const slow = await stage.exit(
      (peer) => void peer.answer('x', '429 Slow Down', [`Retry-After: ${until}`]),
    );
    const gateway = await stage.gateway([slow, await stage.good('good')]);
    await many(3, gateway, () => page);
    const { forMs } = await gateway.event('exit_banned');
    expect(forMs).toBeGreaterThan(500_000);
    expect(slow.heads.length).toBe(1);
  });
});
