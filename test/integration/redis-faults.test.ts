/** S3 D05 in short: `npm run redis-faults` holds every fault for a minute and prints the same table. */
import { describe, expect, it, vi } from 'vitest';
import { banSpread } from '../support/ban-spread.js';
import { figuresOf, tableOf } from '../support/fault-figures.js';
import { redisFaults } from '../support/redis-faults.js';
import { createStage } from '../support/stage.js';

vi.setConfig({ testTimeout: 180_000 });
const stage = createStage();

/** One that hangs, one that Redis says, one that is no outage; each of the others is told by the line to Redis alone. */
const some = ['SIGSTOP', 'READONLY after fail-over', 'NOSCRIPT'];

describe('S3 D05 a fault of Redis at 200 requests a second', () => {
  it.each(redisFaults.filter(({ name }) => some.includes(name)))(
    '$name fails no request and loses no ban',
    async (fault) => {
      const figures = await figuresOf(stage, fault, { seconds: 5, around: 1 });
      process.stdout.write(tableOf([figures]));
      expect([...figures.failed]).toEqual([]);
      expect(figures.lostBans).toEqual([]);
      expect(figures.bans).toBeGreaterThan(10);
    },
  );
});

describe('S4 bans of five gateways', () => {
  it('are known to all of them, also where no message is ever heard', async () => {
    expect(await banSpread(stage, { bans: 20, isHearing: false })).toHaveLength(80);
  });
});
