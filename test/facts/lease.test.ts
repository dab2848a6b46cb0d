import { describe, expect, it } from 'vitest';
import { bucketOf, isFencedOff, leaseBucket, lostAtMs, renewEveryMs } from '../../src/facts/lease.js';

describe('leases', () => {
  it('S2 count as lost a fifth early, from before they were asked for', () => {
    expect(lostAtMs(1000, 30_000)).toBe(25_000);
    expect(renewEveryMs(30_000)).toBe(10_000);
    expect(renewEveryMs(30_000) * 2).toBeLessThan(lostAtMs(0, 30_000));
  });

  it('S2 a word is too late when somebody came after, or the count began anew', () => {
    const current = { epoch: 'a', fence: 5 };
    expect(isFencedOff({ epoch: 'a', fence: 5 }, current)).toBe(false);
    expect(isFencedOff({ epoch: 'a', fence: 6 }, current)).toBe(false);
    expect(isFencedOff({ epoch: 'a', fence: 4 }, current)).toBe(true);
    expect(isFencedOff({ epoch: 'b', fence: 9 }, current)).toBe(true);
  });

  it('S12 exits are spread over 64 buckets, always the same', () => {
    const counts = new Array<number>(64).fill(0);
    for (let n = 0; n < 64_000; n++) {
      const bucket = leaseBucket(`u-${n.toString(16)}`);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
    }
    expect(Math.max(...counts)).toBeLessThan(1200);
    expect(Math.min(...counts)).toBeGreaterThan(800);
    expect(leaseBucket('u-1')).toBe(bucketOf('u-1', 64));
  });
});
