/** Sticky sessions: one exit per session, its moves numbered, and nothing of it seen outside. */
import { describe, expect, it } from 'vitest';
import { ask, connect } from '../support/ask.js';
import { refusedPort, serveEach, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const page = 'http://site.example/';
const inSession = (id: string, ...more: string[]) => ({ fields: [`X-Session-Id: ${id}`, ...more] });

function goodExits(count: number): Promise<ScriptedUpstream[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => stage.good(`exit-${index}`)));
}

describe('K01 one exit per session', () => {
  it('holds for 200 requests at once over 20 sessions, plain and CONNECT mixed', async () => {
    const exits = await goodExits(5);
    const gateway = await stage.gateway(exits);
    const one = async (index: number): Promise<void> => {
      const id = `s${index % 20}`;
      if (index % 40 < 20) {
        expect((await ask(gateway, `http://${id}.example/`, inSession(id))).status).toBe(200);
        return;
      }
      const { client, answer } = await connect(gateway, `${id}.example:443`, inSession(id));
      expect(answer.status).toBe(200);
      client.destroy();
    };
    await Promise.all(Array.from({ length: 200 }, (_, index) => one(index)));
    const served = exits.map((exit) => exit.heads.map((head) => /s\d+(?=\.example)/.exec(head)?.[0]));
    expect(served.flat().length).toBe(200);
    for (let index = 0; index < 20; index++) {
      const users = served.filter((ids) => ids.includes(`s${index}`));
      expect(users.length, `session s${index}`).toBe(1);
    }
    expect(served.filter((ids) => ids.length > 0).length).toBeGreaterThan(1);
  });

  it('gives two clients with the same id exits of their own', async () => {
    const exits = await goodExits(5);
    const clients = ['a', 'b'].map((name) => ({ name, password: 'pw' }));
    const gateway = await stage.gateway(exits, { clients });
    const exitsOf = async (name: string): Promise<string[]> => {
      const login = `Proxy-Authorization: Basic ${Buffer.from(`${name}:pw`).toString('base64')}`;
      const ids = Array.from({ length: 12 }, (_, index) => `id-${index}`);
      const answers = await Promise.all(ids.map((id) => ask(gateway, page, inSession(id, login))));
      return answers.map((answer) => answer.body.toString());
    };
    expect(await exitsOf('a')).not.toEqual(await exitsOf('b'));
    expect(await exitsOf('a')).toEqual(await exitsOf('a'));
  });
});

describe('a soft session', () => {
  it('moves when its exit is gone, with a new generation, and stays there', async () => {
    const exits = await goodExits(3);
    const gateway = await stage.gateway(exits);
    const first = await ask(gateway, page, inSession('s'));
    expect(first.field('x-turnpike-session')).toBe('s;1');
    const lost = exits[Number(first.body.toString().slice(-1))];
    await lost?.close();
    const second = await ask(gateway, page, inSession('s'));
    expect(second.status).toBe(200);
    expect(second.body.toString()).not.toBe(first.body.toString());
    expect(second.field('x-turnpike-session')).toBe('s;2');
    expect(second.field('x-turnpike-upstream')).not.toBe(first.field('x-turnpike-upstream'));
    const third = await ask(gateway, page, inSession('s'));
    expect(third.body.toString()).toBe(second.body.toString());
    expect(third.field('x-turnpike-session')).toBe('s;2');
    const pins = gateway.events.filter((event) => event.type === 'session_pinned');
    expect(pins.map((pin) => [pin.generation, pin.reason])).toEqual([
      [1, 'first'],
      [2, 'exit_failed'],
    ]);
  });

  it('does not move for one failed try', async () => {
    let requests = 0;
    const flaky = () =>
      stage.exit((peer) => {
        if (++requests === 2) peer.end();
        else peer.answer('good', '200 OK', ['Connection: close']);
      });
    const gateway = await stage.gateway([await flaky(), await flaky(), await flaky()]);
    const first = await ask(gateway, page, inSession('s'));
    const second = await ask(gateway, page, inSession('s'));
    expect(second.field('x-turnpike-attempts')).toBe('2');
    expect(second.status).toBe(200);
    expect(second.field('x-turnpike-session')).toBe('s;1');
    expect(second.field('x-turnpike-upstream')).toBe(first.field('x-turnpike-upstream'));
  });

  it('ends on one exit when its two first requests come at once', async () => {
    const exits = await goodExits(5);
    const gateway = await stage.gateway([`http://127.0.0.1:${await refusedPort()}`, ...exits]);
    const ids = Array.from({ length: 20 }, (_, index) => `race-${index}`);
    for (const id of ids) {
      const [one, two] = await Promise.all([
        ask(gateway, page, inSession(id)),
        ask(gateway, page, inSession(id)),
      ]);
      const later = await ask(gateway, page, inSession(id));
      expect([one.body.toString(), two.body.toString()]).toEqual([
        later.body.toString(),
        later.body.toString(),
      ]);
    }
  });
});

describe('a hard session', () => {
  it('answers session_lost once its exit is gone, and never moves', async () => {
    const exits = await goodExits(3);
    const gateway = await stage.gateway(exits);
    const hard = inSession('h', 'X-Turnpike-Session-Mode: hard');
    const first = await ask(gateway, page, hard);
    await exits[Number(first.body.toString().slice(-1))]?.close();
    expect((await ask(gateway, page, hard)).problem().code).toBe('upstream_refused');
    for (const request of [ask(gateway, page, hard), connect(gateway, 'site.example:443', hard)]) {
      const reply = await request;
      const answer = 'answer' in reply ? reply.answer : reply;
      expect(answer.status).toBe(503);
      expect(answer.problem()).toMatchObject({ code: 'session_lost', blame: 'gateway' });
      expect(answer.field('x-turnpike-session')).toBe('h;1');
    }
    const others = exits.flatMap((exit) => exit.heads).length;
    expect(others).toBe(1);
  });
});

describe('K05 what a client says to the gateway', () => {
  it('reaches neither an exit nor, behind it, a target', async () => {
    const recorder = await stage.scripted(
      serveEach(async (peer, { head }) => {
        if (head.startsWith('CONNECT')) {
          peer.write('HTTP/1.1 200 OK\r\n\r\n');
          await peer.until('inside');
          peer.write('seen');
        } else peer.answer('ok');
      }),
    );
    const gateway = await stage.gateway([recorder], { clients: [{ name: 'crawler', password: 'pw' }] });
    const login = Buffer.from('crawler+session=u1:pw').toString('base64');
    const fields = [
      'x-session-id: h1',
      `Proxy-Authorization: Basic ${login}`,
      'X-Turnpike-Session-Ttl: 60',
      'X-Turnpike-Session-Mode: hard',
      'X-Turnpike-Retries: 1',
      'X-Turnpike-Timeout: 20',
      'X-Turnpike-Explain: on',
      'X-Turnpike-Detect: off',
      'X-Turnpike-Loop: 0badcafe',
    ];
    const answer = await ask(gateway, page, { fields });
    expect(answer.field('x-turnpike-session')).toBe('h1;1');
    expect(answer.field('x-turnpike-explain')).toContain('pool=main');
    const { client, answer: tunnel } = await connect(gateway, 'site.example:443', { fields });
    expect(tunnel.field('x-turnpike-session')).toBe('h1;1');
    client.write('inside');
    await client.until('seen');
    client.destroy();
    // The marker on CONNECT is for gateways on the way; it ends where the tunnel begins.
    const sent = recorder.peers
      .map((peer) => peer.text.replace(/X-Turnpike-Loop: 0badcafe, \w+\r\n/, ''))
      .join('');
    expect(sent).not.toMatch(/session|x-turnpike|proxy-authorization|crawler|h1|u1/i);
  });
});

describe('K06 every answer names its exit', () => {
  const exitId = /^u-[a-z2-7]{12}$/;
  it('plain, CONNECT and errors, without an address or a login', async () => {
    const good = await stage.good('ok');
    const gateway = await stage.gateway([good.loginUrl('secret-user', 'pw')]);
    const answers = [await ask(gateway, page)];
    const { client, answer } = await connect(gateway, 'site.example:443');
    client.destroy();
    answers.push(answer);
    await good.close();
    answers.push(await ask(gateway, page));
    const broken = await stage.gateway([`http://secret-user:pw@127.0.0.1:${await refusedPort()}`]);
    answers.push((await connect(broken, 'site.example:443')).answer);
    expect(answers.map((each) => each.status)).toEqual([200, 200, 502, 502]);
    for (const each of answers) {
      expect(each.field('x-turnpike-upstream')).toMatch(exitId);
      expect(each.field('x-turnpike-request-id')).toMatch(/^[\w-]+(~[\w.-]+){0,4}$/);
      expect(each.head + each.body.toString()).not.toMatch(/secret-user|127\.0\.0\.1/);
    }
  });

  it('as far as the route exposes it', async () => {
    const good = await stage.good('ok');
    const full = await stage.gateway([good], { routes: [{ expose: 'full' }] });
    expect((await ask(full, page)).field('x-turnpike-upstream-address')).toBe(good.url);
    const none = await stage.gateway([good], { routes: [{ expose: 'none' }] });
    expect((await ask(none, page)).head).not.toMatch(/x-turnpike/i);
  });
});
