/** S4: how soon five gateways, processes under load, know of each other's bans; with messages, and without any. */
import { describe, expect, it } from 'vitest';
import { banSpread } from '../support/ban-spread.js';
import { percentile } from '../support/fleet.js';
import { tell } from '../support/process-figures.js';
import { createStage } from '../support/stage.js';

const stage = createStage();

/** Goals: 250 ms at p99 with messages; without them one poll, 2 s, and what it takes. */
describe('S4 a ban is known on five gateways', () => {
  it.each([
    ['with messages', true, 1000],
    ['with every message dropped', false, 400],
  ])('%s', async (name, isHearing, bans) => {
    const tookMs = await banSpread(stage, { bans, isHearing });
    expect(tookMs).toHaveLength(bans * 4);
    const [p50, p99, max] = [50, 99, 100].map((percent) => percentile(tookMs, percent));
    tell(`bans on five gateways, ${name}, ms`, { bans, p50: p50 ?? 0, p99: p99 ?? 0, max: max ?? 0 });
  });
});
