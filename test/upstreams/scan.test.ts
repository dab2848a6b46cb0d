import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { EXACT_MAX, lowest, scanFrom, scanFromChance } from '../../src/upstreams/scan.js';
import { Cursors, type Candidates } from '../../src/upstreams/strategies.js';
import { ScriptedView, poolOf } from './pools.js';

function candidatesOf(count: number, isEligible: (index: number) => boolean): Candidates {
  const pool = poolOf(count);
  return { list: pool.all, slots: pool.slots, isEligible };
}

const contextOf = () => ({
  site: 's',
  nowMs: 0,
  pace: null,
  view: new ScriptedView(),
  cursors: new Cursors(),
  random: seededRandom(3),
});

describe('scanFrom', () => {
  it('goes round the end once', () => {
    const candidates = candidatesOf(5, (index) => index === 1);
    expect([0, 1, 2, 4].map((start) => scanFrom(candidates, start))).toEqual([1, 1, 1, 1]);
    expect(
      scanFrom(
        candidatesOf(5, () => false),
        3,
      ),
    ).toBe(-1);
    expect(scanFromChance(candidates, seededRandom(1))).toBe(1);
  });
});

describe('lowest', () => {
  it('takes an infinite score where there is nothing better', () => {
    const candidates = candidatesOf(3, (index) => index > 0);
    expect(lowest(candidates, contextOf(), () => Infinity, 0)).toBe(1);
  });

  it('stops at a score that can not be beaten', () => {
    let asked = 0;
    const context = contextOf();
    const score = (): number => {
      asked++;
      return 0;
    };
    lowest(
      candidatesOf(100, () => true),
      context,
      score,
      0,
    );
    expect(asked).toBe(1);
  });

  it('looks at 32 of more than a thousand', () => {
    let asked = 0;
    const score = (): number => ++asked;
    lowest(
      candidatesOf(EXACT_MAX + 1, () => true),
      contextOf(),
      score,
      -Infinity,
    );
    expect(asked).toBe(32);
  });
});
