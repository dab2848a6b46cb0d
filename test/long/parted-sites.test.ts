/** S1: no exit is ever seen by two groups of sites, while the whole fleet is replaced twice over, in every way of sharing. */
import { describe, expect, it, vi } from 'vitest';
import { partedSites } from '../support/parted-sites.js';
import { tell } from '../support/process-figures.js';
import { createStage } from '../support/stage.js';

vi.setConfig({ testTimeout: 600_000 });
const stage = createStage();
const leaving = Array.from({ length: 8 }, (_, n): NodeJS.Signals => (n % 2 === 0 ? 'SIGKILL' : 'SIGTERM'));

describe('S1 partition: by_site_group', () => {
  it.each(['none', 'ring', 'broker'])('sharing: %s', async (sharing) => {
    const { shared, seen, pages } = await partedSites(stage, sharing, leaving);
    tell(`parted by sites, ${sharing}: exits seen by each group`, { ...seen, pages, two: shared.length });
    expect(shared).toEqual([]);
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
  });
});
