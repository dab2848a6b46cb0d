/**
 * S3 D05: each fault of Redis for a minute under 200 requests a second, and what it cost. `npm run redis-faults` runs it and
 * prints the table. What does not depend on the machine is asserted: no request failed, no ban was lost.
 */
import { afterAll, describe, expect, it, vi } from 'vitest';
import { figuresOf, tableOf, type FaultFigures } from '../support/fault-figures.js';
import { redisFaults } from '../support/redis-faults.js';
import { createStage } from '../support/stage.js';

const SECONDS = Number(process.env['FAULT_SECONDS'] ?? 60);
const only = process.env['FAULT_ONLY'] ?? '';
vi.setConfig({ testTimeout: SECONDS * 1000 + 240_000 });

describe('S3 D05 faults of Redis at 200 requests a second', () => {
  const stage = createStage();
  const rows: FaultFigures[] = [];
  afterAll(() => void process.stdout.write(tableOf(rows)));

  it.each(redisFaults.filter(({ name }) => name.includes(only)))('$name', async (fault) => {
    const figures = await figuresOf(stage, fault, { seconds: SECONDS, around: 3 });
    rows.push(figures);
    expect([[...figures.failed], figures.lostBans]).toEqual([[], []]);
  });
});
