/** What each rule gives is tested in strategies.test.ts, through the table; here, what they ask for. */
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { fastest, leastRecentlyUsedPerSite, leastUsed } from '../../src/upstreams/measured-strategies.js';
import { Cursors, type PickContext } from '../../src/upstreams/strategies.js';
import { ScriptedView, poolOf } from './pools.js';

describe('strategies by record', () => {
  it('ask about the site of the request', () => {
    const view = new ScriptedView();
    const sites = new Set<string>();
    view.lastUsedMs = ((_slot: number, site: string) => {
      sites.add(site);
      return 0;
    }) as ScriptedView['lastUsedMs'];
    const pool = poolOf(3);
    const context: PickContext = { site: 'a.example', view, cursors: new Cursors(), random: seededRandom(1) };
    leastRecentlyUsedPerSite({ list: pool.all, slots: pool.slots, isEligible: () => true }, context);
    expect([...sites]).toEqual(['a.example']);
  });

  it('give −1 for an empty list', () => {
    const pool = poolOf(0);
    const context = { site: 's', view: new ScriptedView(), cursors: new Cursors(), random: seededRandom(1) };
    const nobody = { list: pool.all, slots: pool.slots, isEligible: () => true };
    for (const pick of [leastUsed, leastRecentlyUsedPerSite, fastest]) expect(pick(nobody, context)).toBe(-1);
  });
});
