/** Z01, Z02: what leads back to the gateway ends at once, and nothing else is taken for a loop. */
import os from 'node:os';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { ask, connect, type Answer } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { freePort } from '../support/launched-program.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const connections = (gateway: TestGateway): number =>
  gateway.events.filter((event) => event.type === 'client_connected').length;

async function askBoth(gateway: TestGateway, hostPort: string): Promise<Answer[]> {
  const { client, answer } = await connect(gateway, hostPort);
  client.destroy();
  return [await ask(gateway, `http://${hostPort}/`), answer];
}

function ownNames(): string[] {
  const external = Object.values(os.networkInterfaces())
    .flatMap((list) => list ?? [])
    .map(({ address, family }) => (family === 'IPv6' ? `[${address.split('%')[0]}]` : address));
  const spellings = ['127.0.0.1', '127.8.8.8', '[::1]', '0.0.0.0', '[::]', '[::ffff:127.0.0.1]', 'localhost'];
  return [...new Set([...spellings, 'LOCALHOST.', '2130706433', '0x7f.1', os.hostname(), ...external])];
}

describe('Z01 a request for the gateway itself', () => {
  it.each(ownNames())('by %s is refused at once, on its proxy and admin ports', async (name) => {
    const exit = await stage.good('went out');
    const gateway = await stage.gateway([exit]);
    for (const port of [gateway.port, gateway.adminPort]) {
      for (const answer of await askBoth(gateway, `${name}:${port}`)) {
        expect(answer.status, answer.body.toString()).toBe(508);
        expect(answer.problem().code).toBe('loop_detected');
      }
    }
    expect(exit.accepts).toBe(0);
  });
});

describe('Z01 an upstream that is the gateway', () => {
  it.each(['127.0.0.1', 'localhost', '0.0.0.0'])('by %s is one hop only', async (name) => {
    const port = await freePort('127.0.0.1');
    const listen = { proxy: `127.0.0.1:${port}`, admin: '127.0.0.1:0' };
    const gateway = await stage.gateway([`http://${name}:${port}`], { listen });
    const { client, answer } = await connect(gateway, 'site.example:443');
    client.destroy();
    expect(answer.problem().code).toBe('loop_detected');
    // It is out then, as an exit that refuses would be.
    expect((await ask(gateway, 'http://site.example/')).problem().code).toBe('no_upstream');
    expect(connections(gateway)).toBe(2);
  });

  it('is passed over while others serve', async () => {
    const port = await freePort('127.0.0.1');
    const listen = { proxy: `127.0.0.1:${port}`, admin: '127.0.0.1:0' };
    const gateway = await stage.gateway([`http://127.0.0.1:${port}`, await stage.good('out')], { listen });
    for (let n = 0; n < 4; n++) {
      const answers = await askBoth(gateway, 'site.example:80');
      expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    }
    expect(connections(gateway)).toBe(8);
  });
});

describe('Z01 two gateways that point at each other', () => {
  async function pair(turnpike: boolean): Promise<[TestGateway, TestGateway]> {
    const port = await freePort('127.0.0.1');
    const listen = { proxy: `127.0.0.1:${port}`, admin: '127.0.0.1:0' };
    const to = (url: string) => [{ url, turnpike }];
    const config = (upstreams: object[], more: object) => ({ pools: { main: { upstreams } }, ...more });
    const one = await stage.gateway([], config(to(`http://127.0.0.1:${port}`), {}));
    const parts = { parts: { random: seededRandom(2) } };
    const two = await stage.gateway([], config(to(one.url), { listen }), parts);
    return [one, two];
  }

  it('end a CONNECT after one turn', async () => {
    const [one, two] = await pair(false);
    const { client, answer } = await connect(one, 'site.example:443');
    client.destroy();
    expect(answer.problem().code).toBe('loop_detected');
    expect([connections(one), connections(two)]).toEqual([2, 1]);
  });

  it('end a plain request after one turn when they are flagged', async () => {
    const [one, two] = await pair(true);
    const answer = await ask(one, 'http://site.example/');
    expect(answer.problem().code).toBe('loop_detected');
    expect([connections(one), connections(two)]).toEqual([2, 1]);
  });
});

describe('Z02 a long chain of others', () => {
  it('passes, its fields as they came', async () => {
    const exit = await stage.good('ok');
    const gateway = await stage.gateway([exit]);
    const chain = Array.from({ length: 60 }, (_, n) => `10.1.0.${n}`).join(', ');
    const fields = [
      `X-Forwarded-For: ${chain}`,
      'Via: 1.1 turnpike, 1.0 squid (squid/5.7), 1.1 127.0.0.1',
      'Forwarded: for=127.0.0.1;by=gateway',
      `X-Turnpike-Loop: other-gateway`,
    ];
    expect((await ask(gateway, 'http://site.example/', { fields })).status).toBe(200);
    for (const field of fields.slice(0, 3)) expect(exit.heads[0]).toContain(`${field}\r\n`);
    expect(exit.heads[0]).not.toMatch(/x-turnpike/i);
  });
});
