import { describe, expect, it } from 'vitest';
import { fleetOf, heartbeatMs, MEMBER_TTL_MS, strangersIn } from '../../src/facts/member.js';

describe('members', () => {
  const member = (id: string) => ({ id, version: '1', load: 0, keys: [] });

  it('S3 every gateway sees the fleet in the same order, itself in it', () => {
    const seen = fleetOf([member('g3'), member('g1')], 'g2');
    expect(seen).toEqual(['g1', 'g2', 'g3']);
    expect(fleetOf([member('g2'), member('g3'), member('g1')], 'g1')).toEqual(seen);
    expect(fleetOf([], 'g1')).toEqual(['g1']);
  });

  it('S3 who names another secret is a stranger, who names none is not', () => {
    const fleet = [[], ['mine'], ['other'], ['old', 'mine']].map((keys) => ({ ...member('g1'), keys }));
    expect(strangersIn(fleet, 'mine')).toBe(1);
    expect(strangersIn([], 'mine')).toBe(0);
  });

  it('S3 two heartbeats may be lost', () => {
    expect(heartbeatMs(0.999) * 2).toBeLessThan(MEMBER_TTL_MS);
    expect(heartbeatMs(0)).toBeLessThan(heartbeatMs(0.5));
  });
});
