import { describe, expect, it } from 'vitest';
import { RestTallies } from '../../src/facts/rest-tallies.js';

describe('RestTallies', () => {
  const filled = (short: [number, number], long: [number, number]): RestTallies => {
    const tallies = new RestTallies();
    const add = (restMs: number, [tries, refused]: [number, number]): void => {
      for (let n = 0; n < tries; n++) tallies.add(restMs, n < refused ? 1 : 0);
    };
    add(1000, short);
    add(2000, long);
    return tallies;
  };

  it.each([
    ['as many refusals', [100, 10], [40, 4], 'useless'],
    ['hardly any refusals', [100, 20], [40, 1], 'helps'],
    ['far more refusals: the site has changed', [100, 1], [20, 10], 'helps'],
    ['too little to tell', [100, 10], [10, 1], 'unknown'],
  ] as const)('after longer rests %s', (_, short, long, verdict) => {
    expect(filled([...short], [...long]).judge(1000)).toBe(verdict);
  });

  it('forgets by halves, and altogether when told to', () => {
    const tallies = filled([100, 20], [40, 1]);
    for (let n = 0; n < 2000; n++) tallies.add(1000, 0);
    expect(tallies.judge(1000)).toBe('unknown');
    tallies.clear();
    expect(tallies.judge(1000)).toBe('unknown');
  });
});
