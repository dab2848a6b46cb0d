import { describe, expect, it } from 'vitest';
import { SiteBans, noRecord, type SiteRecord } from '../../src/exits/site-bans.js';
import { noBan, struck } from '../../src/facts/ban.js';

const FORGET_MS = 1000;

function banned(nowMs: number, forMs = 100): SiteRecord {
  return { ...noRecord, ban: struck(noBan, forMs, { reason: 'x', nowMs }) };
}

function overlay(maxEntries: number): { bans: SiteBans; told: string[] } {
  const told: string[] = [];
  const bans = new SiteBans(
    maxEntries,
    () => FORGET_MS,
    (slot, site, by) => told.push(`${slot} ${site} ${by}`),
  );
  return { bans, told };
}

describe('SiteBans', () => {
  it('holds a record per exit and site, and tells of those that go out and come back', () => {
    const { bans, told } = overlay(10);
    bans.set(1, 'a', banned(0), 0);
    bans.set(1, 'a', banned(50), 50);
    bans.set(2, 'a', { ...noRecord, suspects: 1, suspectMs: 0 }, 0);
    expect([bans.size, bans.has(1), bans.has(3), bans.get(1, 'b')]).toEqual([2, true, false, undefined]);
    expect([...bans.all()].map(([slot, site]) => `${slot} ${site}`)).toEqual(['1 a', '2 a']);
    expect([...bans.of(2)].map(([site]) => site)).toEqual(['a']);
    bans.set(1, 'a', noRecord, 60);
    bans.set(9, 'a', noRecord, 60);
    expect(told).toEqual(['1 a 1', '1 a -1']);
    expect([bans.size, bans.has(1)]).toEqual([1, false]);
    bans.delete(9, 'a');
  });

  it('sweeps what is long over', () => {
    const { bans } = overlay(10);
    bans.set(1, 'a', banned(0), 0);
    bans.set(1, 'b', banned(0, 5000), 0);
    bans.set(2, 'a', { ...noRecord, suspects: 1, suspectMs: 0 }, 0);
    bans.sweep(1100);
    expect([...bans.all()].map(([slot, site]) => `${slot} ${site}`)).toEqual(['1 a', '1 b']);
    bans.sweep(1101);
    expect(bans.size).toBe(1);
  });

  it('stays within its bound: stale records go first, then old ones', () => {
    const { bans, told } = overlay(3);
    bans.set(1, 'a', banned(0), 0);
    bans.set(2, 'a', banned(5000), 5000);
    bans.set(3, 'a', banned(5000), 5000);
    bans.set(4, 'a', banned(5000), 5000);
    expect([bans.size, bans.get(1, 'a')]).toEqual([3, undefined]);
    for (let slot = 5; slot < 500; slot++) bans.set(slot, 'a', banned(5000), 5000);
    expect(bans.size).toBe(3);
    expect(bans.get(499, 'a')).toBeDefined();
    const out = told.filter((line) => line.endsWith(' 1')).length;
    expect(out - told.filter((line) => line.endsWith('-1')).length).toBe(3);
  });

  it('stays within its bound when one exit has all records', () => {
    const { bans } = overlay(50);
    for (let n = 0; n < 300; n++) bans.set(1, `site-${n}`, banned(0, 9000), 0);
    expect([bans.size, bans.get(1, 'site-0'), [...bans.of(1)].length]).toEqual([50, undefined, 50]);
    expect(bans.get(1, 'site-299')).toBeDefined();
  });
});
