import { describe, expect, it } from 'vitest';
import { chooseLeastBad } from '../../src/upstreams/least-bad.js';
import { ScriptedView, anyExit, askOf, idAt, poolFrom, poolOf } from './pools.js';

describe('the least bad exit', () => {
  const pool = poolOf(4);
  const allOut = (): ScriptedView => {
    const view = new ScriptedView();
    [9000, 3000, 5000, 7000].forEach((untilMs, index) => view.out.set(index, untilMs));
    return view;
  };

  it('is the one that would be back first', () => {
    expect(chooseLeastBad(askOf(pool, allOut()))).toBe(1);
  });

  it('is none that was tried, is frozen, or has no room', () => {
    const view = allOut();
    view.frozen.add(2);
    const avoid = new Set([idAt(pool, 1)]);
    expect(chooseLeastBad(askOf(pool, view, { avoid }))).toBe(3);
    const small = poolFrom(pool.upstreams, 'round_robin', 1);
    view.busy.set(3, 1);
    expect(chooseLeastBad(askOf(small, view, { avoid }))).toBe(0);
  });

  it('is the named one, or none', () => {
    const filter = { ...anyExit, upstream: idAt(pool, 3) };
    expect(chooseLeastBad(askOf(pool, allOut(), { filter }))).toBe(3);
    expect(chooseLeastBad(askOf(pool, allOut(), { filter: { ...anyExit, upstream: 'none' } }))).toBe(-1);
  });
});
