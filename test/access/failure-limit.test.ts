import { describe, expect, it } from 'vitest';
import { FailureLimit } from '../../src/access/failure-limit.js';

function failed(times: number, address: string, nowMs = 0): FailureLimit {
  const limit = new FailureLimit();
  for (let i = 0; i < times; i++) limit.count(address, nowMs);
  return limit;
}

describe('failed logins of one address', () => {
  it('are free up to ten', () => {
    expect(new FailureLimit().isLimited('192.0.2.1', 0)).toBe(false);
    expect(failed(9, '192.0.2.1').isLimited('192.0.2.1', 0)).toBe(false);
    expect(failed(10, '192.0.2.1').isLimited('192.0.2.1', 0)).toBe(true);
  });

  it('are forgiven, one in six seconds', () => {
    const limit = failed(10, '192.0.2.1', 1000);
    expect(limit.isLimited('192.0.2.1', 6900)).toBe(true);
    expect(limit.isLimited('192.0.2.1', 7000)).toBe(false);
    limit.count('192.0.2.1', 7000);
    expect(limit.isLimited('192.0.2.1', 7000)).toBe(true);
  });

  it('do not pile up beyond that: waiting always helps', () => {
    expect(failed(10_000, '192.0.2.1').isLimited('192.0.2.1', 6000)).toBe(false);
  });

  it('say nothing about other addresses', () => {
    const limit = failed(10, '192.0.2.1');
    expect(limit.isLimited('192.0.2.2', 0)).toBe(false);
    expect(limit.isLimited('::ffff:192.0.2.1', 0)).toBe(true);
  });

  it('count for a whole IPv6 network of one machine', () => {
    const limit = failed(10, '2001:db8:1:2::3');
    expect(limit.isLimited('2001:db8:1:2:ffff::9%eth0', 0)).toBe(true);
    expect(limit.isLimited('2001:db8:1:3::3', 0)).toBe(false);
  });

  it('count for what is no address as for itself', () => {
    const limit = failed(10, 'unix');
    expect(limit.isLimited('unix', 0)).toBe(true);
    expect(limit.isLimited('', 0)).toBe(false);
  });

  it('are remembered of 10,000 addresses at most, the forgiven ones dropped first', () => {
    const limit = new FailureLimit();
    for (let i = 0; i < 10_000; i++) limit.count(`10.0.${i >> 8}.${i & 255}`, i < 5000 ? 0 : 10_000);
    expect(limit.size).toBe(10_000);
    limit.count('10.0.0.0', 10_000);
    expect(limit.size).toBe(10_000);
    limit.count('192.0.2.1', 10_000);
    expect(limit.size).toBe(5002);
    for (let i = 0; i < 10_000; i++) limit.count(`10.1.${i >> 8}.${i & 255}`, 10_000);
    expect(limit.size).toBeLessThanOrEqual(10_000);
  });
});
