/** What one gateway finds out about a site, all go by. */
import { describe, expect, it } from 'vitest';
import { ask } from '../support/ask.js';
import type { TestGateway } from '../support/gateway.js';
import { jumpingClock } from '../support/jumping-clock.js';
import { bansOf, eachHas, exitIdsOf, startSharedGateways } from '../support/shared-gateways.js';
import { createStage } from '../support/stage.js';

const stage = createStage();
const page = 'http://site.example/';

describe('S7 a site that is down', () => {
  it('is down for all by the word of one, its bans are rolled back everywhere, and one canary of all looks', async () => {
    let isDown = false;
    let asked = 0;
    const exits = await Promise.all(
      Array.from({ length: 8 }, () =>
        stage.exit((peer, { head }) => {
          asked++;
          if (!isDown) peer.answer('page');
          else if (head.includes('POST')) peer.answer('no', '403 Forbidden');
          else peer.answer('down', '503 Service Unavailable');
        }),
      ),
    );
    const clock = jumpingClock();
    const { gateways } = await startSharedGateways(stage, exits, {}, { parts: { clock } });
    const [first, second, third] = gateways as [TestGateway, TestGateway, TestGateway];
    const ids = await exitIdsOf(first);
    isDown = true;
    for (const [gateway, exit] of [[first, 0] as const, [second, 1] as const])
      for (let n = 0; n < 2; n++) {
        const fields = [`X-Turnpike-Upstream: ${ids[exit] ?? ''}`];
        await ask(gateway, page, { method: 'POST', body: 'x', fields });
      }
    await eachHas(gateways, 2);
    for (let n = 0; n < 4; n++) await ask(first, page);
    expect(await first.event('site_guarded')).toMatchObject({ change: 'site_down', isHeard: false });
    for (const gateway of [second, third])
      expect(await gateway.event('site_guarded')).toMatchObject({ change: 'site_down', isHeard: true });
    await eachHas(gateways, 0);
    asked = 0;
    const told = await Promise.all(gateways.map((gateway) => ask(gateway, page)));
    expect(told.map((each) => each.problem().code)).toEqual(told.map(() => 'target_failed'));
    expect(asked).toBe(0);
    clock.jump(5001);
    await Promise.all([...gateways, ...gateways].map((gateway) => ask(gateway, page)));
    expect(asked).toBe(1);
  });

  it('is up for all when the canary of one comes back well', async () => {
    let isDown = true;
    const exits = await Promise.all(
      Array.from({ length: 6 }, () =>
        stage.exit((peer) => void peer.answer('page', isDown ? '503 Service Unavailable' : '200 OK')),
      ),
    );
    const clock = jumpingClock();
    const { gateways } = await startSharedGateways(stage, exits, {}, { parts: { clock }, count: 2 });
    const [first, second] = gateways as [TestGateway, TestGateway];
    for (let n = 0; n < 4; n++) await ask(first, page);
    await second.event('site_guarded');
    isDown = false;
    clock.jump(5001);
    expect((await ask(second, page)).status).toBe(200);
    await first.event('site_guarded', ({ change, isHeard }) => change === 'site_up' && isHeard);
    expect((await ask(first, page)).status).toBe(200);
  });

  it('B01 a rule that fires on everything is suspended by all', async () => {
    const exits = await Promise.all(
      Array.from({ length: 8 }, () => stage.exit((peer) => void peer.answer('a shop'))),
    );
    const rules = [{ name: 'too-much', when: { body: { contains: 'shop' } }, then: ['ban', 'retry'] }];
    const config = { rules, bans: { max_ejected: 1 } };
    const { gateways } = await startSharedGateways(stage, exits, config, { count: 2 });
    const [first, second] = gateways as [TestGateway, TestGateway];
    await ask(first, page);
    await ask(first, page);
    await first.event('site_guarded');
    expect(await second.event('site_guarded')).toMatchObject({
      ...{ change: 'rule_suspended', rule: 'rule too-much', isHeard: true },
    });
    await eachHas(gateways, 0);
    expect((await ask(second, page)).status).toBe(200);
    expect(await bansOf(second)).toEqual([]);
  });
});
