/** S1: `partition: by_site_group`, by the sites' own logs; longer in test/long. */
import { describe, expect, it, vi } from 'vitest';
import { partedSites } from '../support/parted-sites.js';
import { createStage } from '../support/stage.js';

vi.setConfig({ testTimeout: 180_000 });
const stage = createStage();

describe('S1 partition: by_site_group', () => {
  it('no exit is ever seen by two groups, also while gateways join, leave and crash', async () => {
    const { shared, seen } = await partedSites(stage, 'ring', ['SIGTERM', 'SIGKILL']);
    expect(shared).toEqual([]);
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
  });
});
