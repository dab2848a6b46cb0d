import { describe, expect, it } from 'vitest';
import { watchDisks } from '../../src/audit/disk.js';
import { FakeClock } from '../support/fake-clock.js';
import { waitFor } from '../support/wait.js';
import { eventsOf } from '../support/audit.js';

describe('the disks of the audit', () => {
  it('K8 are told of once at 90 %, and when there is clearly room again', async () => {
    const clock = new FakeClock();
    const { events, emit } = eventsOf();
    const uses = [50, 89, 90, 95, 88, null, 87, 89, 91];
    let looks = 0;
    const usedPercent = (): Promise<number | null> => Promise.resolve(uses[looks++] ?? null);
    const stop = watchDisks([{ disk: 'file', path: '/a/audit.log' }], { clock, emit, usedPercent });
    for (let turn = 1; turn <= uses.length; turn++) {
      await waitFor('the look', () => looks === turn && clock.pending === 1);
      clock.advance(60_000);
    }
    expect(events).toMatchObject([
      { disk: 'file', state: 'nearly_full', usedPercent: 90 },
      { disk: 'file', state: 'roomy', usedPercent: 87 },
      { disk: 'file', state: 'nearly_full', usedPercent: 91 },
    ]);
    stop();
    await waitFor('the end', () => clock.pending === 0);
  });

  it('are asked of the system', async () => {
    const { events, emit } = eventsOf();
    const clock = new FakeClock();
    const stop = watchDisks(
      [
        { disk: 'file', path: '/dev/shm/audit.log' },
        { disk: 'database', path: '/no/such/folder/turnpike.db' },
      ],
      { clock, emit },
    );
    await waitFor('the look', () => clock.pending === 1);
    stop();
    expect(events.filter(({ type }) => type !== 'audit_disk_turned')).toEqual([]);
  });
});
