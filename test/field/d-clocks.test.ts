/** Gateways whose clocks differ: what they share is told as durations, and ends by Redis' clock. */
import { describe, expect, it } from 'vitest';
import { systemClock, type Clock } from '../../src/core/clock.js';
import { askAdmin } from '../support/admin.js';
import { ask } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { bansOf, eachHas, exitIdsOf, startSharedGateways } from '../support/shared-gateways.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const AHEAD_MS = 300_000;

/** The machine's clock, five minutes ahead; its monotonic time began elsewhere, too. */
const aheadClock: Clock = {
  nowMs: () => systemClock.nowMs() + 1e9,
  wallMs: () => systemClock.wallMs() + AHEAD_MS,
  after: (ms, fn) => systemClock.after(ms, fn),
};

describe('D11 a gateway whose clock is five minutes ahead', () => {
  it('agrees with the others on the end of a ban, whoever said it, and rests with them', async () => {
    const touches: number[] = [];
    const exits = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        stage.exit((peer) => {
          touches.push(performance.now());
          peer.answer(name);
        }),
      ),
    );
    const main = { upstreams: exits.map(({ url }) => ({ url })), limits: { spacing: '400ms' } };
    const { gateways } = await startSharedGateways(
      stage,
      exits,
      { pools: { main }, bans: { max_ejected: 1 } },
      { partsOf: (n) => (n === 0 ? {} : { clock: aheadClock }), count: 2 },
    );
    const [first, second] = gateways as [TestGateway, TestGateway];
    const [one, two, three = ''] = await exitIdsOf(first);
    for (const [gateway, exit] of [[first, one] as const, [second, two] as const]) {
      const body = { exit, site: 'site.example', ttl: '60s', reason: 'test' };
      await askAdmin(gateway.adminPort, '/api/v1/bans', { method: 'POST', body });
    }
    await eachHas(gateways, 2);
    for (const gateway of gateways)
      for (const { leftMs } of await bansOf(gateway)) {
        expect(leftMs).toBeGreaterThan(30_000);
        expect(leftMs).toBeLessThanOrEqual(60_000);
      }
    for (const gateway of [first, second, first]) {
      const answer = await ask(gateway, 'http://site.example/');
      expect([answer.status, answer.field('x-turnpike-upstream')]).toEqual([200, three]);
    }
    const gaps = touches.slice(1).map((ms, n) => ms - (touches[n] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(398);
  });
});
