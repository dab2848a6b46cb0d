import { describe, expect, it } from 'vitest';
import { choose } from '../../src/upstreams/choose.js';
import { Neighbours, placeOf } from '../../src/upstreams/neighbours.js';
import { makeUpstream, type Upstream } from '../../src/upstreams/upstream.js';
import { ScriptedView, askOf, idAt, poolFrom, poolOf } from './pools.js';

function exitAt(host: string, port = 8000): Upstream {
  const parsed = makeUpstream({ protocol: 'http', host, port, login: null }, {});
  if (parsed.kind === 'bad') throw new Error(parsed.reason);
  return parsed.upstream;
}

describe('the place of an exit', () => {
  it.each([
    ['10.1.2.3', '10.1.2.250', true],
    ['10.1.2.3', '10.1.3.3', false],
    ['2001:db8:1:2::1', '2001:db8:1:9::9', true],
    ['2001:db8:1:2::1', '2001:db8:2:2::1', false],
    ['gate1.vendor.example', 'gate2.vendor.example', true],
    ['gate.vendor.example', 'gate.other.example', false],
  ])('%s and %s: the same %j', (a, b, isSame) => {
    expect(placeOf(exitAt(a)) === placeOf(exitAt(b))).toBe(isSame);
  });
});

describe('G7 another try', () => {
  const pool = poolFrom([
    exitAt('10.1.1.1'),
    exitAt('10.1.1.2'),
    exitAt('10.1.1.3'),
    exitAt('10.9.9.9'),
    exitAt('gate.vendor.example'),
  ]);
  const triedFirst = (): Neighbours => {
    const neighbours = new Neighbours();
    neighbours.add(exitAt('10.1.1.1'));
    return neighbours;
  };

  it.each([null, 'a session'])('goes to another network first (session: %j)', (sessionKey) => {
    const avoid = new Set([idAt(pool, 0)]);
    const choice = choose(askOf(pool, new ScriptedView(), { avoid, sessionKey, neighbours: triedFirst() }));
    expect(choice).toMatchObject({ kind: 'exit' });
    expect([3, 4]).toContain(choice.kind === 'exit' && choice.index);
  });

  it('takes a neighbour where nobody else is free', () => {
    const view = new ScriptedView();
    for (const index of [3, 4]) view.out.set(index, 9999);
    const avoid = new Set([idAt(pool, 0)]);
    const choice = choose(askOf(pool, view, { avoid, neighbours: triedFirst() }));
    expect(choice).toEqual({ kind: 'exit', index: 1, why: 'strategy' });
  });

  it('does not search a big pool of neighbours to its end', () => {
    const many = poolFrom(Array.from({ length: 5000 }, (_, n) => exitAt('10.1.1.1', 1000 + n)));
    const view = new ScriptedView();
    const choice = choose(askOf(many, view, { neighbours: triedFirst() }));
    expect(choice).toEqual({ kind: 'exit', index: 64, why: 'strategy' });
    expect(view.asked).toBe(1);
  });

  it('finds the same as ever where no place was tried', () => {
    const plain = poolOf(3);
    expect(choose(askOf(plain, new ScriptedView(), { neighbours: new Neighbours() }))).toEqual(
      choose(askOf(plain, new ScriptedView())),
    );
  });
});
