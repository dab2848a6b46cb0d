import { describe, expect, it } from 'vitest';
import { RecentUses } from '../../src/exits/recent-uses.js';

describe('RecentUses', () => {
  it('remembers the last use, exit by exit and site by site', () => {
    const uses = new RecentUses();
    expect(uses.lastMs(0, 'a.example')).toBe(-Infinity);
    uses.note(0, 'a.example', 5);
    uses.note(1, 'a.example', 6);
    uses.note(0, 'b.example', 7);
    uses.note(0, 'a.example', 8);
    const at = (slot: number, site: string): number => uses.lastMs(slot, site);
    expect([at(0, 'a.example'), at(1, 'a.example'), at(0, 'b.example'), at(1, 'b.example')]).toEqual([
      8,
      6,
      7,
      -Infinity,
    ]);
  });

  it('forgets the oldest when it is full, and never the latest', () => {
    const uses = new RecentUses();
    const pairs = 1_500_000;
    for (let n = 0; n < pairs; n++) uses.note(n % 50_000, `site-${Math.floor(n / 50_000)}`, n);
    let known = 0;
    for (let n = pairs - 100_000; n < pairs; n++) {
      if (uses.lastMs(n % 50_000, `site-${Math.floor(n / 50_000)}`) === n) known++;
    }
    expect(known / 100_000).toBeGreaterThan(0.99);
    let stale = 0;
    for (let n = 0; n < 100_000; n++) {
      if (uses.lastMs(n % 50_000, `site-${Math.floor(n / 50_000)}`) === n) stale++;
    }
    expect(stale / 100_000).toBeLessThan(0.5);
  });
});
