/** When a request is tried again, when it must not be, and what the crawler gets when no try was good. */
import { afterEach, describe, expect, it } from 'vitest';
import { answering, ask, connect, startExit } from '../support/ask.js';
import { startGateway, type GatewayOptions, type TestGateway } from '../support/gateway.js';
import { RawClient } from '../support/raw-client.js';
import { refusedPort, startScripted, type ScriptedUpstream } from '../support/scripted-upstream.js';

const page = 'http://site.example/page';
const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

function kept<T extends { close(): Promise<unknown> }>(each: T): T {
  open.push(each);
  return each;
}

async function gatewayFor(
  exits: readonly (ScriptedUpstream | string)[],
  config: GatewayOptions['config'] = {},
): Promise<TestGateway> {
  const upstreams = exits.map((exit) => (typeof exit === 'string' ? exit : exit.url));
  return kept(await startGateway({ upstreams, config }));
}

/** Exits that all answer with this status. */
function allAnswering(
  status: string,
  count: number,
  fields: readonly string[] = [],
): Promise<ScriptedUpstream[]> {
  const exit = () => startExit((peer) => void peer.answer(`page of ${status}`, status, fields));
  return Promise.all(Array.from({ length: count }, async () => kept(await exit())));
}

const hits = (exits: readonly ScriptedUpstream[]): number =>
  exits.reduce((sum, exit) => sum + exit.heads.length, 0);

describe('R08 before a tunnel stands', () => {
  it('goes on to the exit that works, with the bytes that came early', async () => {
    const refused = `http://127.0.0.1:${await refusedPort()}`;
    const busy = kept(await startExit((peer) => void peer.answer('busy', '503 Busy')));
    const good = kept(await startExit(answering('')));
    const gateway = await gatewayFor([refused, busy, good]);
    const { client, answer } = await connect(gateway, 'site.example:443', { early: 'hello' });
    expect(answer.status).toBe(200);
    expect(answer.field('x-turnpike-attempts')).toBe('3');
    await client.until('hello');
    expect(client.text).toBe('hello');
    expect(busy.peers[0]?.rest).toBe('');
    client.destroy();
  });
});

describe('R01 a request that was sent', () => {
  const cutting = () => startExit((peer) => peer.reset());
  it.each(['', 'name=value'])('POST with body "%s" is never sent twice', async (body) => {
    const exits = [kept(await cutting()), kept(await cutting())];
    const gateway = await gatewayFor(exits);
    const answer = await ask(gateway, page, { method: 'POST', body });
    expect(answer.status).toBe(502);
    expect(answer.problem().code).toBe('upstream_closed');
    expect(answer.problem().detail).toContain('the request was sent');
    expect(hits(exits)).toBe(1);
  });

  it('POST is sent again where the route allows it', async () => {
    const exits = [kept(await cutting()), kept(await startExit(answering('done')))];
    const gateway = await gatewayFor(exits, { routes: [{ retry_unsafe: true }] });
    const answer = await ask(gateway, page, { method: 'POST', body: 'name=value' });
    expect(answer.body.toString()).toBe('done');
    expect(hits(exits)).toBe(2);
    expect(exits[1]?.peers[0]?.text).toMatch(/\r\n\r\nname=value$/);
  });

  it('POST goes elsewhere when nothing of it was sent', async () => {
    const good = kept(await startExit(answering('done')));
    const gateway = await gatewayFor([`http://127.0.0.1:${await refusedPort()}`, good]);
    const answer = await ask(gateway, page, { method: 'POST', body: 'name=value' });
    expect(answer.body.toString()).toBe('done');
    expect(answer.field('x-turnpike-attempts')).toBe('2');
  });
});

describe('R04 an answer that may not be retried', () => {
  it.each(['500 Oops', '503 Busy', '429 Slow', '403 No'])(
    '%s to a POST arrives as it was',
    async (status) => {
      const exits = [
        kept(
          await startExit(
            (peer) => void peer.answer('{"why":1}', status, ['Content-Type: application/json', 'X-A: 1']),
          ),
        ),
        kept(await startExit(answering('other'))),
      ];
      const gateway = await gatewayFor(exits);
      const answer = await ask(gateway, page, { method: 'POST', body: 'x' });
      expect(answer.head).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
      expect(answer.field('content-type')).toBe('application/json');
      expect(answer.field('x-a')).toBe('1');
      expect(answer.body.toString()).toBe('{"why":1}');
      expect(hits(exits)).toBe(1);
    },
  );
});

describe('R05 a kept connection that the peer closes as it is reused', () => {
  const closingOnReuse = () =>
    startScripted(async (peer, nth) => {
      await peer.request();
      peer.answer('first');
      if (nth > 0) return;
      await peer.request();
      peer.end();
    });

  it('GET is repeated on a new connection to the same exit, which is not blamed', async () => {
    const exit = kept(await closingOnReuse());
    const gateway = await gatewayFor([exit]);
    expect((await ask(gateway, page)).status).toBe(200);
    const answer = await ask(gateway, page);
    expect(answer.status).toBe(200);
    expect(answer.field('x-turnpike-attempts')).toBe('1');
    expect(exit.accepts).toBe(2);
    expect(gateway.events.some((event) => event.type === 'exit_banned')).toBe(false);
    expect(gateway.events).toContainEqual({ type: 'upstream_connection', what: 'stale' });
  });

  it('POST takes no kept connection', async () => {
    const exit = kept(await closingOnReuse());
    const gateway = await gatewayFor([exit]);
    await ask(gateway, page);
    expect((await ask(gateway, page, { method: 'POST', body: 'x' })).status).toBe(200);
    expect(exit.accepts).toBe(2);
    expect(exit.peers[0]?.text).not.toContain('POST');
  });

  it("keeps no connection beyond the peer's own word", async () => {
    const exit = kept(await startExit((peer) => void peer.answer('x', '200 OK', ['Keep-Alive: timeout=1'])));
    const gateway = await gatewayFor([exit]);
    await ask(gateway, page);
    await ask(gateway, page);
    expect(exit.accepts).toBe(2);
  });
});

describe('R06 an answer that began', () => {
  it('is cut when its exit dies, and never continued by another', async () => {
    const dying = kept(
      await startExit(async (peer) => {
        peer.write(`HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n${'x'.repeat(1024)}`);
        await peer.until('go on');
        peer.reset();
      }),
    );
    const other = kept(await startExit(answering('other')));
    const gateway = await gatewayFor([dying, other]);
    const client = await RawClient.connect(gateway.port);
    client.write(`GET ${page} HTTP/1.1\r\nHost: site.example\r\n\r\n`);
    await client.until('x'.repeat(1024));
    (await dying.peer(0)).reset();
    await client.ended();
    expect(client.received.length).toBeLessThan(3000);
    expect(client.text).not.toContain('other');
    expect(other.accepts).toBe(0);
    expect((await gateway.event('exchange_ended')).end).toBe('upstream_cut');
  });
});

describe('R09 one deadline over all tries', () => {
  it('ends with 504 long before every exit had its own time', async () => {
    const silent = () => startScripted(() => undefined);
    const exits = await Promise.all(Array.from({ length: 5 }, async () => kept(await silent())));
    const gateway = await gatewayFor(exits, {
      timeouts: { first_byte: '400ms', exchange: '900ms' },
      retry: { retries: 10 },
    });
    const answer = await ask(gateway, page);
    expect(answer.status).toBe(504);
    expect(Number(answer.field('x-turnpike-attempts'))).toBeLessThanOrEqual(3);
  });

  it("says exchange_timeout when the client's own deadline was the shorter one, and blames no exit", async () => {
    const exit = kept(await startScripted(() => undefined));
    const gateway = await gatewayFor([exit]);
    for (const path of ['http://a.example/', 'http://b.example/', 'http://c.example/']) {
      const answer = await ask(gateway, path, { fields: ['X-Turnpike-Timeout: 0.3'] });
      expect(answer.status).toBe(504);
      expect(answer.problem().code).toBe('exchange_timeout');
    }
    expect(gateway.events.some((event) => event.type === 'exit_banned')).toBe(false);
  });
});

describe('B14 retries: N is N further tries', () => {
  it.each([0, 1, 3])('X-Turnpike-Retries: %i', async (retries) => {
    const exits = await allAnswering('429 Slow Down', 6, ['X-Site: own']);
    const gateway = await gatewayFor(exits, { retry: { retries: 3 } });
    const answer = await ask(gateway, page, { fields: [`X-Turnpike-Retries: ${retries}`] });
    expect(answer.head).toMatch(/^HTTP\/1.1 429 Slow Down\r\n/);
    expect(answer.body.toString()).toBe('page of 429 Slow Down');
    expect(answer.field('x-site')).toBe('own');
    expect(answer.field('x-turnpike-verdict')).toBe('throttled');
    expect(answer.field('x-turnpike-attempts')).toBe(String(retries + 1));
    expect(hits(exits)).toBe(retries + 1);
  });
});

describe('B15 fewer exits than tries', () => {
  it('stops when each exit was tried once, and delivers the last answer', async () => {
    const exits = await allAnswering('429 Slow Down', 3);
    const gateway = await gatewayFor(exits, { retry: { retries: 10 } });
    const answer = await ask(gateway, page);
    expect(answer.status).toBe(429);
    expect(answer.field('x-turnpike-attempts')).toBe('3');
    expect(exits.map((exit) => exit.heads.length)).toEqual([1, 1, 1]);
  });

  it.each(['403 No', '429 Slow', '503 Busy', '502 Bad'])('one exit: %s arrives as it was', async (status) => {
    const [exit] = await allAnswering(status, 1);
    const gateway = await gatewayFor([exit as ScriptedUpstream]);
    const answer = await ask(gateway, page);
    expect(answer.head).toMatch(new RegExp(`^HTTP/1.1 ${status}\r\n`));
    expect(answer.body.toString()).toBe(`page of ${status}`);
  });

  it('one exit that refuses is told of as itself, not as an empty pool', async () => {
    const gateway = await gatewayFor([`http://127.0.0.1:${await refusedPort()}`]);
    expect((await ask(gateway, page)).problem().code).toBe('upstream_refused');
  });
});
