/** N14: freeze and drain by the API, with sessions and requests that are really there. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin, exitsOf } from '../support/admin.js';
import { ask, connect } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { createStage } from '../support/stage.js';
import { waitFor } from '../support/wait.js';

const stage = createStage();
const page = 'http://site.example/';
const inSession = (id: string, ...more: string[]) => ({ fields: [`X-Session-Id: ${id}`, ...more] });

async function twoExits(config: Record<string, unknown> = {}): Promise<TestGateway> {
  const exits = [await stage.good('exit-0'), await stage.good('exit-1')];
  return stage.gateway(exits, { admin: adminSection, ...config });
}

/** Puts a session on an exit, and says which: its name and its id. */
async function sessionOn(gateway: TestGateway, id: string): Promise<{ name: string; exit: string }> {
  const answer = await ask(gateway, page, inSession(id));
  expect(answer.status).toBe(200);
  return { name: answer.body.toString(), exit: answer.field('x-turnpike-upstream') ?? '' };
}

const order = async (gateway: TestGateway, exit: string, word: string): Promise<string> => {
  const answer = await askAdmin(gateway.adminPort, `/api/v1/upstreams/${exit}/${word}`, { method: 'POST' });
  expect(answer.status).toBe(200);
  return answer.body.state;
};

/** Names of the exits that serve many new requests, with and without sessions. */
async function usedByNew(gateway: TestGateway): Promise<Set<string>> {
  const asks = Array.from({ length: 20 }, (_, n) =>
    ask(gateway, page, n % 2 === 0 ? {} : inSession(`new-${n}`)),
  );
  const answers = await Promise.all(asks);
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  return new Set(answers.map(({ body }) => body.toString()));
}

describe('N14 freeze', () => {
  it('keeps pinned sessions, plain and in tunnels, and lets no new ones come', async () => {
    const gateway = await twoExits();
    const { name, exit } = await sessionOn(gateway, 'old');
    expect(await usedByNew(gateway)).toEqual(new Set(['exit-0', 'exit-1']));
    expect(await order(gateway, exit, 'freeze')).toBe('frozen');
    for (let n = 0; n < 5; n++) expect((await sessionOn(gateway, 'old')).name).toBe(name);
    const { client, answer } = await connect(gateway, 'site.example:443', inSession('old'));
    expect(answer.field('x-turnpike-upstream')).toBe(exit);
    client.destroy();
    const other = name === 'exit-0' ? 'exit-1' : 'exit-0';
    const fresh = { fields: ['X-Session-Id: fresh'] };
    expect((await ask(gateway, page, fresh)).body.toString()).toBe(other);
    const plain = await Promise.all(Array.from({ length: 10 }, () => ask(gateway, page)));
    expect(new Set(plain.map(({ body }) => body.toString()))).toEqual(new Set([other]));
    const named = await ask(gateway, page, { fields: [`X-Turnpike-Upstream: ${exit}`] });
    expect(named.status).toBe(503);
    const old = await gateway.event(
      'exchange_ended',
      ({ session, upstream }) => session === 'old' && upstream === exit,
    );
    expect(old.generation).toBe(1);
    expect(await gateway.metrics()).toMatch(/turnpike_exits\{pool="main",state="frozen"\} 1\n/);
    expect((await exitsOf(gateway, '?state=frozen')).map(({ id }) => id)).toEqual([exit]);
    const told = await gateway.event('note', ({ what }) => what === 'exit_frozen');
    expect(told.detail).toMatchObject({ exit, by: 'admin' });
  });

  it('ends with thaw', async () => {
    const gateway = await twoExits();
    const { exit } = await sessionOn(gateway, 'old');
    await order(gateway, exit, 'freeze');
    expect((await usedByNew(gateway)).size).toBe(1);
    expect(await order(gateway, exit, 'thaw')).toBe('available');
    expect((await usedByNew(gateway)).size).toBe(2);
  });

  it('N12 of all exits is an answer at once, with Retry-After and never direct', async () => {
    const origin = await stage.good('origin');
    const gateway = await twoExits();
    for (const { id } of await exitsOf(gateway)) await order(gateway, id, 'freeze');
    const answer = await ask(gateway, `http://127.0.0.1:${origin.port}/`);
    expect([answer.status, answer.problem().code]).toEqual([503, 'no_upstream']);
    expect(Number(answer.field('retry-after'))).toBeGreaterThan(0);
    expect(origin.heads).toEqual([]);
  });
});

describe('N14 drain', () => {
  it('removes an idle exit at once', async () => {
    const gateway = await twoExits();
    const [first] = await exitsOf(gateway);
    expect(await order(gateway, first.id, 'drain')).toBe('removed');
    expect(await exitsOf(gateway)).toHaveLength(1);
    expect(await gateway.metrics()).toMatch(/turnpike_exits\{pool="main",state="available"\} 1\n/);
  });

  it('keeps the exit until its last session is over, then moves whoever comes back', async () => {
    const gateway = await twoExits();
    const { name, exit } = await sessionOn(gateway, 'old');
    expect(await order(gateway, exit, 'drain')).toBe('draining');
    expect((await sessionOn(gateway, 'old')).name).toBe(name);
    const plain = await ask(gateway, page);
    expect(plain.body.toString()).not.toBe(name);
    expect(await gateway.metrics()).toMatch(/turnpike_exits\{pool="main",state="draining"\} 1\n/);
    await askAdmin(gateway.adminPort, '/api/v1/sessions/anonymous/old', { method: 'DELETE' });
    const gone = await gateway.event('note', ({ what }) => what === 'exit_removed');
    expect(gone.detail).toMatchObject({ exit, by: 'drain' });
    expect((await exitsOf(gateway)).map(({ id }) => id)).not.toContain(exit);
  });

  it('waits for a session to run out', async () => {
    const gateway = await twoExits({ sessions: { ttl: '1s' } });
    const { exit } = await sessionOn(gateway, 'old');
    expect(await order(gateway, exit, 'drain')).toBe('draining');
    await gateway.event('note', ({ what, detail }) => what === 'exit_removed' && detail['exit'] === exit);
    expect(await exitsOf(gateway)).toHaveLength(1);
  });

  it('waits for what is in flight', async () => {
    const gateway = await twoExits();
    const { client, answer } = await connect(gateway, 'site.example:443');
    const exit = answer.field('x-turnpike-upstream') ?? '';
    expect(await order(gateway, exit, 'drain')).toBe('draining');
    client.write('still here');
    await client.until('still here');
    expect((await exitsOf(gateway)).map(({ id }) => id)).toContain(exit);
    client.destroy();
    await gateway.event('note', ({ what }) => what === 'exit_removed');
    expect((await exitsOf(gateway)).map(({ id }) => id)).not.toContain(exit);
  });

  it('is taken back by thaw', async () => {
    const gateway = await twoExits();
    const { exit } = await sessionOn(gateway, 'old');
    await order(gateway, exit, 'drain');
    expect(await order(gateway, exit, 'thaw')).toBe('available');
    expect((await usedByNew(gateway)).size).toBe(2);
  });
});

describe('an exit that is removed', () => {
  it('Z09 loses its tunnels at once, and its sessions move', async () => {
    const gateway = await twoExits();
    const { exit, name } = await sessionOn(gateway, 'old');
    const { client } = await connect(gateway, 'site.example:443', inSession('old'));
    client.write('hello');
    await client.until('hello');
    const before = performance.now();
    await askAdmin(gateway.adminPort, `/api/v1/upstreams/${exit}`, { method: 'DELETE' });
    await client.ended();
    expect(performance.now() - before).toBeLessThan(3000);
    const ended = await gateway.event('exchange_ended', ({ kind }) => kind === 'tunnel');
    expect(ended.end).toBe('cut_by_policy');
    expect((await sessionOn(gateway, 'old')).name).not.toBe(name);
    const moved = await gateway.event('session_pinned', ({ generation }) => generation === 2);
    expect(moved.reason).toBe('exit_gone');
    await waitFor('the tunnel to be forgotten', () =>
      gateway.events.some(({ type }) => type === 'exchange_ended'),
    );
  });
});
