/** Field cases of kind A: what a client says of its session, and by which carrier. */
import { describe, expect, it } from 'vitest';
import { fieldsOf, type RawClient, type RawMessage } from '../support/raw-client.js';
import { connectHead, getHead, login, startRig, type Rig } from '../support/rig.js';
import { serveEach, type Script } from '../support/scripted-upstream.js';

const proxy: Script = serveEach((peer, { head }) => {
  if (head.startsWith('CONNECT ')) peer.write('HTTP/1.1 200 OK\r\n\r\n');
  else peer.answer('page');
});
const clients = [{ name: 'u', password: 'p' }];
const start = (): Promise<Rig> =>
  startRig(proxy, {
    config: { clients },
    upstreams: ({ loginUrl }) => Array.from({ length: 16 }, (_, i) => loginUrl(`exit${i}`, 'x')),
  });

const sessionIn = (head: string): string => fieldsOf(head, 'x-turnpike-session').join().split(';')[0] ?? '';
const exitIn = (head: string): string => fieldsOf(head, 'x-turnpike-upstream').join();

async function headFor(c: RawClient, head: string): Promise<string> {
  const got = await c.write(head).head();
  if (!head.startsWith('CONNECT')) c.take();
  return got;
}

function codeOf(answer: RawMessage): { code: string; detail: string } {
  return JSON.parse(answer.body.toString()) as { code: string; detail: string };
}

describe('A18 two visits behind one username', () => {
  it('are told apart by header, on GET and on CONNECT', async () => {
    const { client, gateway } = await start();
    for (const id of ['tab-1', 'tab-2']) {
      const fields = [login('u', 'p'), `X-Session-Id: ${id}`];
      expect(sessionIn(await headFor(await client(), getHead('http://a.test/', ...fields)))).toBe(id);
      expect(sessionIn(await headFor(await client(), connectHead('a.test:443', ...fields)))).toBe(id);
    }
    const ended = await gateway.event('exchange_ended', (event) => event.session === 'tab-2');
    expect(ended.generation).not.toBeNull();
  });

  it('by a part of the username, and the header wins over it', async () => {
    const { client } = await start();
    const byName = login('u+session=name-1', 'p');
    expect(sessionIn(await headFor(await client(), connectHead('a.test:443', byName)))).toBe('name-1');
    const both = getHead('http://a.test/', byName, 'X-Session-Id: head-1');
    expect(sessionIn(await headFor(await client(), both))).toBe('head-1');
  });

  it('stay each on one exit', async () => {
    const { client } = await start();
    const exits = new Map<string, Set<string>>();
    for (let nth = 0; nth < 30; nth++) {
      const id = `s${nth % 5}`;
      const make =
        nth % 2 === 0
          ? (f: string[]) => getHead('http://a.test/', ...f)
          : (f: string[]) => connectHead('b.test:443', ...f);
      const head = await headFor(await client(), make([login('u', 'p'), `X-Session-Id: ${id}`]));
      exits.set(id, (exits.get(id) ?? new Set()).add(exitIn(head)));
    }
    for (const seen of exits.values()) expect(seen.size).toBe(1);
    expect(new Set([...exits.values()].flatMap((seen) => [...seen])).size).toBeGreaterThan(1);
  });

  it('by a port of their own', async () => {
    const { gateway, client } = await startRig(proxy, {
      config: { listen: { proxy: [{ at: '127.0.0.1:0', session: 'port-1' }], admin: '127.0.0.1:0' } },
    });
    expect(gateway.port).toBeGreaterThan(0);
    expect(sessionIn(await headFor(await client(), getHead()))).toBe('port-1');
    const named = getHead('http://a.test/', 'X-Session-Id: mine');
    expect(sessionIn(await headFor(await client(), named))).toBe('mine');
  });
});

describe('A19 parameters in the username', () => {
  it.each([
    ['a dash in the value', 'u+session=a-1', 'a-1'],
    ['upper case in the value', 'u+session=AbC', 'AbC'],
    ['upper case in the key', 'u+Session=a1', null],
    ['an empty value', 'u+session=', null],
    ['a key that comes twice', 'u+session=a+session=b', null],
    ['an unknown key', 'u+sesion=a', null],
    ['a key without value', 'u+session', null],
    ['an empty part', 'u++session=a', null],
    ['a value of 200 characters', `u+session=${'x'.repeat(200)}`, null],
    ['a username of 4 KB', `u+session=${'x'.repeat(4096)}`, null],
    ['a blank in the value', 'u+session=a b', null],
    ['a line end in the value', 'u+session=a\r\nX-Evil: 1', null],
    ['several keys', 'u+session=a1+mode=soft+ttl=60', 'a1'],
  ])('%s', async (_, username, session) => {
    const { client, upstream } = await start();
    for (const head of [
      getHead('http://a.test/', login(username, 'p')),
      connectHead('a.test:443', login(username, 'p')),
    ]) {
      const c = await client();
      c.write(head);
      if (session !== null) {
        const got = await c.head();
        expect(sessionIn(got)).toBe(session);
        continue;
      }
      const answer = await c.answer();
      expect([400, 407]).toContain(answer.status);
      expect(codeOf(answer).detail.length).toBeGreaterThan(10);
      expect(answer.head).not.toMatch(/^X-Evil/m);
    }
    if (session === null) expect(upstream.accepts).toBe(0);
    expect(upstream.heads.join('')).not.toMatch(/session|mode=|ttl=/i);
  });

  it('what is wrong with it is named', async () => {
    const { client } = await start();
    const answer = await (await client()).write(getHead('http://a.test/', login('u+sesion=a', 'p'))).answer();
    expect(answer.status).toBe(400);
    expect(codeOf(answer).detail).toContain('sesion');
  });

  it('a wrong password is 407 before anything is said about parameters', async () => {
    const { client } = await start();
    const head = getHead('http://a.test/', login('u+sesion=a', 'wrong'));
    const answer = await (await client()).write(head).answer();
    expect(answer.status).toBe(407);
    expect(codeOf(answer).detail).not.toContain('sesion');
  });
});
