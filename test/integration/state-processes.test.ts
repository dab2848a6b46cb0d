/** Two `turnpike serve` that share a Redis: sessions, bans, and what happens while Redis is away. */
import { describe, expect, it } from 'vitest';
import { adminSection, askAdmin } from '../support/admin.js';
import { ask } from '../support/ask.js';
import { freePort } from '../support/launched-program.js';
import { startRedis, type RealRedis } from '../support/real-redis.js';
import { startServe, type ServeProcess } from '../support/serve-process.js';
import { createStage } from '../support/stage.js';
import { eventually } from '../support/wait.js';

const stage = createStage();
const page = 'http://site.example/';

interface Fleet {
  readonly redis: RealRedis;
  readonly one: ServeProcess;
  readonly other: ServeProcess;
}

async function aFleet(
  exitCount: number,
  secrets = ['a secret of the fleet', 'a secret of the fleet'],
): Promise<Fleet> {
  const redis = stage.keep(await startRedis());
  const exits = await Promise.all(Array.from({ length: exitCount }, (_, n) => stage.good(`exit-${n}`)));
  const gateway = async (secret: string): Promise<ServeProcess> => {
    const state = { kind: 'redis', url: `redis://127.0.0.1:${redis.port}`, secret };
    const config = { admin: adminSection, state, timeouts: { pre_stop: 0 } };
    return stage.keep(
      await startServe(
        exits.map(({ url }) => url),
        config,
      ),
    );
  };
  const [one, other] = await Promise.all([gateway(secrets[0] ?? ''), gateway(secrets[1] ?? '')]);
  await eventually('both to find each other', async () => {
    const gateways = await Promise.all([one, other].map((each) => metric(each, 'turnpike_state_gateways')));
    return gateways.every((count) => count === 2);
  });
  return { redis, one, other };
}

const portOf = (gateway: ServeProcess): number => Number(new URL(gateway.admin).port);

async function metric(gateway: ServeProcess, name: string): Promise<number> {
  const { text } = await askAdmin(portOf(gateway), '/metrics');
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

async function stateOf(gateway: ServeProcess): Promise<string> {
  const { status, body } = await askAdmin(portOf(gateway), '/readyz');
  expect(status).toBe(200);
  return body.state;
}

const exitOf = async (gateway: ServeProcess, session: string): Promise<string> =>
  (await ask(gateway, page, { fields: [`X-Session-Id: ${session}`] })).body.toString();

async function bansOf(gateway: ServeProcess): Promise<string[]> {
  const { body } = await askAdmin(portOf(gateway), '/api/v1/bans');
  return body.items.map(({ id }: { id: string }) => id);
}

async function banOn(gateway: ServeProcess, index: number): Promise<string> {
  const { body: exits } = await askAdmin(portOf(gateway), '/api/v1/upstreams');
  const body = { exit: exits.items[index].id, site: 'site.example', ttl: '1h', reason: 'by hand' };
  const { status, body: made } = await askAdmin(portOf(gateway), '/api/v1/bans', { method: 'POST', body });
  expect(status).toBeLessThan(300);
  return made.id;
}

describe('S6 K02 sessions of a fleet', () => {
  it('are on one exit, whichever gateway is asked, also where first requests race', async () => {
    const { one, other } = await aFleet(5);
    const sessions = Array.from({ length: 40 }, (_, n) => `s${n}`);
    const pairs = await Promise.all(
      sessions.map((session) => Promise.all([exitOf(one, session), exitOf(other, session)])),
    );
    for (const [here, there] of pairs) expect(there).toBe(here);
    expect(new Set(pairs.flat()).size).toBeGreaterThan(1);
    expect(await Promise.all(sessions.map((session) => exitOf(other, session)))).toEqual(
      pairs.map(([here]) => here),
    );
    other.child.kill('SIGTERM');
    expect(await other.ended).toBe(0);
    await eventually(
      'the other to be missed',
      async () => (await metric(one, 'turnpike_state_gateways')) === 1,
    );
  });
});

describe('S6 two gateways with different secrets', () => {
  it('say so in log, metrics and /readyz, on both sides, and name no secret', async () => {
    const secrets = ['a secret of the fleet', 'the secret of another fleet'];
    const { redis, one, other } = await aFleet(1, secrets);
    for (const gateway of [one, other]) {
      expect(await metric(gateway, 'turnpike_state_strangers')).toBe(1);
      expect((await askAdmin(portOf(gateway), '/readyz')).body.otherSecrets).toBe(1);
      await eventually('the note', async () => gateway.log().includes('cluster_secret_differs'));
      for (const secret of secrets) expect(gateway.log()).not.toContain(secret);
    }
    expect(String(await redis.admin.call('HGETALL', 'turnpike:{members:0}:values'))).not.toMatch(/secret/);
    other.child.kill('SIGTERM');
    await eventually('the other to leave', async () => (await metric(one, 'turnpike_state_strangers')) === 0);
    await eventually('the word of it', async () => one.log().includes('cluster_secret_agrees'));
  });
});

describe('S4 bans of a fleet', () => {
  it('reach the other gateway, and so does their lifting', async () => {
    const { one, other } = await aFleet(3);
    const id = await banOn(one, 0);
    await eventually('the ban to arrive', async () => (await bansOf(other)).includes(id));
    const { status } = await askAdmin(portOf(other), `/api/v1/bans/${encodeURIComponent(id)}`, {
      method: 'DELETE',
    });
    expect(status).toBeLessThan(300);
    await eventually('the lifting to arrive', async () => !(await bansOf(one)).includes(id));
  });
});

describe('S3 D05 a fleet whose Redis goes away', () => {
  it('goes on, keeps its sessions, and has lost no ban when Redis is back', async () => {
    const { redis, one, other } = await aFleet(4);
    const before = await exitOf(one, 'kept');
    expect(await stateOf(one)).toBe('shared');
    await redis.admin.config('SET', 'port', String(await freePort('127.0.0.1')));
    await redis.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually('both to notice', async () => {
      const states = await Promise.all([stateOf(one), stateOf(other)]);
      return states.every((state) => state === 'degraded');
    });
    expect(await exitOf(one, 'kept')).toBe(before);
    const begun = await exitOf(one, 'begun');
    expect(begun).toMatch(/^exit-/);
    const exits = ['exit-0', 'exit-1', 'exit-2', 'exit-3'];
    const id = await banOn(
      one,
      exits.findIndex((exit) => exit !== before && exit !== begun),
    );
    expect(await bansOf(other)).not.toContain(id);
    await redis.admin.config('SET', 'port', String(redis.port));
    await eventually('the ban to arrive', async () => (await bansOf(other)).includes(id));
    await eventually('both to be back', async () => (await stateOf(one)) === 'shared');
    expect(await exitOf(one, 'begun')).toBe(begun);
    expect(await exitOf(other, 'begun')).toBe(begun);
    expect(one.log()).toMatch(/state_degraded/);
  });
});

describe('S3 K01 a gateway that starts and gets no Redis', () => {
  it.each([
    ['nobody listens', async () => `redis://127.0.0.1:${await freePort('127.0.0.1')}`, 'connection'],
    [
      'the login is wrong',
      async () => `redis://nobody:wrong@127.0.0.1:${stage.keep(await startRedis()).port}`,
      'WRONGPASS',
    ],
  ])('serves, and says so in its log: %s', async (_, urlOf, cause) => {
    const exit = await stage.good('exit');
    const state = { kind: 'redis', url: await urlOf(), secret: 'a secret of the fleet' };
    const gateway = stage.keep(await startServe([exit.url], { admin: adminSection, state }));
    expect(await exitOf(gateway, 'any')).toBe('exit');
    await eventually('the word of it', async () => gateway.log().includes('state_degraded'));
    expect(gateway.log()).toContain(`"cause":"${cause}"`);
    expect(await metric(gateway, 'turnpike_state_events_total{event="outages"}')).toBe(1);
  });
});
