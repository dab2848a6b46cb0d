import { describe, expect, it } from 'vitest';
import { newWatch, noteTry, RECENT_TRIES, ruleBehind, shareOf } from '../../src/outcome/site-watch.js';

describe('the tries at a site', () => {
  it('give the share of failures among the last ones', () => {
    const watch = newWatch();
    expect(shareOf(watch)).toBe(0);
    noteTry(watch, 1, null);
    noteTry(watch, 2, { atMs: 1, rule: null });
    expect(shareOf(watch)).toBe(0.5);
    for (let n = 0; n < 100; n++) noteTry(watch, 3, { atMs: n, rule: null });
    expect([shareOf(watch), watch.count]).toEqual([1, RECENT_TRIES]);
  });

  it('know the exits whose last try failed, the longest ago first, and not too many', () => {
    const watch = newWatch();
    for (const exit of [1, 2, 1]) noteTry(watch, exit, { atMs: exit, rule: null });
    noteTry(watch, 3, { atMs: 3, rule: null });
    noteTry(watch, 3, null);
    expect([...watch.failed.keys()]).toEqual([2, 1]);
    for (let exit = 100; exit < 300; exit++) noteTry(watch, exit, { atMs: exit, rule: null });
    expect(watch.failed.size).toBe(64);
    expect(watch.failed.has(1)).toBe(false);
  });

  it('find the rule behind most failures', () => {
    const failures = ['a', 'a', 'b', null].map((rule) => ({ atMs: 0, rule }));
    expect([ruleBehind(failures, 2), ruleBehind(failures, 3)]).toEqual(['a', undefined]);
  });
});
