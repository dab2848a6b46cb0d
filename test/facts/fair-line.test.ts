import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairLine } from '../../src/facts/fair-line.js';

/** Serves `count` items and says which. */
function served(line: FairLine<string>, count: number): string[] {
  const taken: string[] = [];
  line.serve((item) => taken.length < count && taken.push(item) > 0);
  return taken;
}

describe('N7 a line that is fair between clients', () => {
  it('serves the heads in turn, whoever has more waiting', () => {
    const line = new FairLine<string>();
    for (let n = 0; n < 4; n++) line.add('big', `b${n}`);
    line.add('small', 's0');
    line.add('small', 's1');
    expect(served(line, 5)).toEqual(['b0', 's0', 'b1', 's1', 'b2']);
    expect(line.length).toBe(1);
  });

  it('remembers whose turn it is from one time to the next', () => {
    const line = new FairLine<string>();
    for (const item of ['a0', 'a1', 'b0', 'b1']) line.add(item.charAt(0), item);
    expect([served(line, 1), served(line, 1), served(line, 1)]).toEqual([['a0'], ['b0'], ['a1']]);
  });

  it('goes on to other clients when one head can not be served now', () => {
    const line = new FairLine<string>();
    for (const item of ['a0', 'a1', 'b0', 'b1']) line.add(item.charAt(0), item);
    const taken: string[] = [];
    line.serve((item) => item !== 'a0' && taken.push(item) > 0);
    expect(taken).toEqual(['b0', 'b1']);
    expect(served(line, 9)).toEqual(['a0', 'a1']);
  });

  it('lets go of who leaves', () => {
    const line = new FairLine<string>();
    for (const item of ['a0', 'b0', 'c0']) line.add(item.charAt(0), item);
    expect([line.remove('a', 'a0'), line.remove('a', 'a0'), line.remove('x', 'x0')]).toEqual([
      true,
      false,
      false,
    ]);
    expect(served(line, 9)).toEqual(['b0', 'c0']);
  });

  it('who comes to the head is served before the rest of its own client', () => {
    const line = new FairLine<string>();
    line.add('a', 'a0');
    line.add('a', 'again', 'head');
    line.add('b', 'b0', 'head');
    expect(served(line, 9)).toEqual(['again', 'b0', 'a0']);
  });

  it('an empty line serves nobody', () => {
    expect(served(new FairLine<string>(), 9)).toEqual([]);
  });

  it('shares are equal: no client gets two more than another that still waits', () => {
    const waiting = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 2, maxLength: 6 });
    fc.assert(
      fc.property(waiting, fc.integer({ min: 1, max: 40 }), (sizes, count) => {
        const line = new FairLine<string>();
        sizes.forEach((size, client) => {
          for (let n = 0; n < size; n++) line.add(String(client), String(client));
        });
        const taken = served(line, count);
        const got = sizes.map((_, client) => taken.filter((item) => item === String(client)).length);
        const most = Math.max(...got);
        sizes.forEach((size, client) => {
          if ((got[client] ?? 0) < size) expect(most - (got[client] ?? 0)).toBeLessThanOrEqual(1);
        });
        expect(taken.length).toBe(
          Math.min(
            count,
            sizes.reduce((sum, size) => sum + size, 0),
          ),
        );
      }),
    );
  });
});
