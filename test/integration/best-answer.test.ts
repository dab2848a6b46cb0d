/** What a client gets when no try brought a good page, and what an outage of everything costs. */
import { describe, expect, it } from 'vitest';
import { ask, connect } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import type { Peer } from '../support/scripted-upstream.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const page = 'http://site.example/';
const saying = (status: string, body: string) => (peer: Peer) => void peer.answer(body, status);

/** Asks a gateway whose exits do these in turn. */
async function askThrough(...scripts: ((peer: Peer) => void)[]) {
  const exits = await Promise.all(scripts.map((script) => stage.exit(script)));
  const gateway = await stage.gateway(exits);
  const answer = await ask(gateway, page);
  const verdicts = gateway.events.filter((event) => event.type === 'attempt_ended');
  return {
    answer,
    verdicts: verdicts.map(({ verdict, upstream }) => ({ verdict, upstream })),
    exits,
    gateway,
  };
}

describe('B14 the best answer', () => {
  it('is delivered, not the last fault, and says by whom it came', async () => {
    const { answer, verdicts } = await askThrough(
      saying('403 Forbidden', 'members only'),
      (peer) => peer.reset(),
      (peer) => peer.reset(),
    );
    expect([answer.status, answer.body.toString()]).toEqual([403, 'members only']);
    expect([answer.field('x-turnpike-verdict'), answer.field('x-turnpike-attempts')]).toEqual([
      'suspect',
      '3',
    ]);
    expect(answer.field('x-turnpike-upstream')).toBe(verdicts[0]?.upstream);
  });

  it('is the suspect one before one that is unclear', async () => {
    const { answer } = await askThrough(
      saying('503 Service Unavailable', 'busy'),
      saying('403 Forbidden', 'members only'),
      saying('503 Service Unavailable', 'busy'),
    );
    expect([answer.body.toString(), answer.field('x-turnpike-attempts')]).toEqual(['members only', '3']);
  });

  it('between equals is the last', async () => {
    const { answer } = await askThrough(
      saying('503 Service Unavailable', 'one'),
      saying('503 Service Unavailable', 'two'),
      saying('503 Service Unavailable', 'three'),
    );
    expect(answer.body.toString()).toBe('three');
  });

  it('arrives whole when it is big, and leaves nothing open behind it', async () => {
    const big = 'x'.repeat(300_000);
    const { answer, exits, gateway } = await askThrough(
      saying('403 Forbidden', big),
      (peer) => peer.reset(),
      (peer) => peer.reset(),
    );
    expect(answer.body.toString()).toBe(big);
    await gateway.close();
    for (const exit of exits) await exit.idle();
  });

  it('waits longer than a body may be silent', async () => {
    const first = await stage.exit(saying('403 Forbidden', 'y'.repeat(200_000)));
    const slow = await stage.exit(() => undefined);
    const timeouts = { body_idle: '200ms', first_byte: '800ms' };
    const gateway = await stage.gateway([first, slow], { timeouts, retry: { retries: 1 } });
    const answer = await ask(gateway, page);
    expect([answer.status, answer.body.length]).toEqual([403, 200_000]);
  });
});

/** So many at once. */
const flood = (count: number, one: (n: number) => Promise<{ status: number }>) =>
  Promise.all(Array.from({ length: count }, (_, n) => one(n)));

const attemptsIn = (gateway: TestGateway): number =>
  gateway.events.filter(({ type }) => type === 'attempt_ended').length;

describe('G7 when everything fails', () => {
  const budget = { retry: { transport_floor: 0 }, guard: { enabled: false } };

  it('upstreams get a fifth more than what clients ask, plain and CONNECT', async () => {
    const exits = await Promise.all(Array.from({ length: 10 }, () => stage.exit((peer) => peer.reset())));
    const gateway = await stage.gateway(exits, { ...budget, bans: { max_ejected: 0 } });
    await flood(50, (n) => ask(gateway, `http://site-${n}.example/`));
    const before = attemptsIn(gateway);
    await flood(100, (n) => ask(gateway, `http://site-${n}.example/`));
    await flood(100, async (n) => {
      const { client, answer } = await connect(gateway, `site-${n}.example:443`);
      client.destroy();
      return answer;
    });
    // 250 requests within the ten seconds of the window allow 50 retries, the warm-up's among them.
    expect(attemptsIn(gateway) - before).toBeLessThanOrEqual(240);
  });

  it('no POST of which a byte was written is sent again', async () => {
    const exits = await Promise.all(Array.from({ length: 4 }, () => stage.exit((peer) => peer.reset())));
    const gateway = await stage.gateway(exits, { bans: { max_ejected: 0 }, guard: { enabled: false } });
    await flood(40, (n) => ask(gateway, `http://site-${n}.example/`, { method: 'POST', body: 'x' }));
    expect(exits.reduce((sum, { heads }) => sum + heads.length, 0)).toBe(40);
  });

  it('a site that is down is asked by one at a time, whatever comes', async () => {
    const exits = await Promise.all(
      Array.from({ length: 6 }, () => stage.exit(saying('503 Service Unavailable', 'down'))),
    );
    const gateway = await stage.gateway(exits);
    for (let n = 0; n < 3; n++) await ask(gateway, page);
    const before = attemptsIn(gateway);
    const answers = await flood(100, () => ask(gateway, page));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 502));
    expect(attemptsIn(gateway)).toBe(before);
  });
});
