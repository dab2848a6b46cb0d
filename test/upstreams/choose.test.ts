import { describe, expect, it } from 'vitest';
import { choose, type Ask, type Choice } from '../../src/upstreams/choose.js';
import { ScriptedView, anyExit, askOf, idAt, poolFrom, poolOf, upstreamAt } from './pools.js';

function reasonOf(choice: Choice): [string, number | null] | number {
  return choice.kind === 'none' ? [choice.reason, choice.retryAfterMs] : choice.index;
}

describe('an exit that has just come back', () => {
  it('gets as much as it may, and a session waits for it', () => {
    const pool = poolOf(2);
    const view = new ScriptedView();
    view.most.set(0, 1);
    expect(choose(askOf(pool, view))).toMatchObject({ index: 0 });
    view.busy.set(0, 1);
    expect(choose(askOf(pool, view))).toMatchObject({ index: 1 });
    const pinned = { pinned: idAt(pool, 0), sessionKey: 's' };
    expect(choose(askOf(pool, view, pinned))).toMatchObject({
      kind: 'none',
      isPinFull: true,
      retryAfterMs: 1000,
    });
  });
});

describe('choose: who comes first', () => {
  const pool = poolOf(5);

  it('the strategy, when nothing else is said', () => {
    const ask = askOf(pool, new ScriptedView());
    expect([choose(ask), choose(ask)]).toEqual([
      { kind: 'exit', index: 0, why: 'strategy' },
      { kind: 'exit', index: 1, why: 'strategy' },
    ]);
  });

  it('G4 the pinned exit of a session', () => {
    const ask = askOf(pool, new ScriptedView(), { pinned: idAt(pool, 3), sessionKey: 'k' });
    expect(choose(ask)).toEqual({ kind: 'exit', index: 3, why: 'pinned' });
  });

  it('G5 the hash of a session without an exit, the same each time', () => {
    const ask = askOf(pool, new ScriptedView(), { sessionKey: 'k' });
    const first = choose(ask);
    expect(first).toMatchObject({ kind: 'exit', why: 'session_hash' });
    expect(choose({ ...ask, view: new ScriptedView() })).toEqual(first);
  });

  it.each<[string, (view: ScriptedView) => Partial<Ask>]>([
    ['is set aside', (view) => (view.out.set(3, 9999), {})],
    ['was tried', () => ({ avoid: new Set([idAt(pool, 3)]) })],
    ['is of another country', () => ({ filter: { ...anyExit, country: 'de' } })],
    ['is gone', () => ({ pinned: 'u-gone' })],
  ])('a session moves when its exit %s', (_why, prepare) => {
    const mixed = poolFrom(pool.upstreams.map((_, n) => upstreamAt(n, n === 3 ? {} : { country: 'de' })));
    const view = new ScriptedView();
    const ask = { ...askOf(mixed, view, { pinned: idAt(pool, 3), sessionKey: 'k' }), ...prepare(view) };
    const moved = choose(ask);
    expect(moved).toMatchObject({ kind: 'exit', why: 'session_hash' });
    expect(reasonOf(moved)).not.toBe(3);
    expect(choose({ ...ask, sessionKey: null })).toMatchObject({ kind: 'exit', why: 'strategy' });
  });

  it('G4 a session whose exit is only full waits for it', () => {
    const narrow = poolFrom(pool.upstreams, 'round_robin', 2);
    const view = new ScriptedView();
    view.busy.set(3, 2);
    const ask = askOf(narrow, view, { pinned: idAt(narrow, 3), sessionKey: 'k' });
    expect(reasonOf(choose(ask))).toEqual(['all slots are taken', 1000]);
    view.busy.set(3, 1);
    expect(choose(ask)).toMatchObject({ why: 'pinned' });
  });

  it('the exit that the client named, and no other', () => {
    const view = new ScriptedView();
    const filter = { ...anyExit, upstream: idAt(pool, 2) };
    const ask = askOf(pool, view, { filter, pinned: idAt(pool, 3), sessionKey: 'k' });
    expect(choose(ask)).toEqual({ kind: 'exit', index: 2, why: 'named' });
    expect(choose({ ...ask, pinned: idAt(pool, 2) })).toEqual({ kind: 'exit', index: 2, why: 'pinned' });
    view.out.set(2, 4000);
    expect(reasonOf(choose(ask))).toEqual(['all exits are set aside', 3000]);
    const unknown = { ...ask, filter: { ...anyExit, upstream: 'u-unknown' } };
    expect(reasonOf(choose(unknown))).toEqual(['no exit matches the filter', null]);
    const elsewhere = { ...ask, filter: { ...filter, country: 'de' } };
    expect(reasonOf(choose(elsewhere))).toEqual(['no exit matches the filter', null]);
  });
});

describe('choose: filters', () => {
  const pool = poolFrom([
    upstreamAt(0, { country: 'de', city: 'berlin', asn: 1, tags: ['dc', 'fast'] }),
    upstreamAt(1, { country: 'de', city: 'bonn', asn: 2, tags: ['dc'] }),
    upstreamAt(2, { country: 'us', tags: ['fast'] }),
    upstreamAt(3, {}),
  ]);

  it.each([
    [{ country: 'DE' }, [0, 1]],
    [{ city: 'Bonn' }, [1]],
    [{ asn: 1 }, [0]],
    [{ tags: ['fast'] }, [0, 2]],
    [{ tags: ['dc', 'fast'] }, [0]],
    [{ country: 'us', tags: ['fast'] }, [2]],
    [{ country: 'de', asn: 2, tags: ['dc'] }, [1]],
  ])('%j lets only matching exits serve', (wish, expected) => {
    const ask = askOf(pool, new ScriptedView(), { filter: { ...anyExit, ...wish } });
    const seen = new Set([1, 2, 3, 4, 5, 6].map(() => reasonOf(choose(ask))));
    expect([...seen].sort()).toEqual(expected);
    for (const key of ['a', 'b', 'c', 'd']) {
      expect(expected).toContain(reasonOf(choose({ ...ask, sessionKey: key })));
    }
  });

  it.each([
    { country: 'fr' },
    { tags: ['slow'] },
    { country: 'us', tags: ['dc'] },
    { city: 'rome' },
    { asn: 9 },
  ])('%j matches no exit: nothing to wait for', (wish) => {
    const ask = askOf(pool, new ScriptedView(), { filter: { ...anyExit, ...wish } });
    expect(reasonOf(choose(ask))).toEqual(['no exit matches the filter', null]);
  });
});

describe('choose: nothing to be had', () => {
  const pool = poolFrom(poolOf(3).upstreams, 'round_robin', 2);

  it('N12 an empty pool is never a direct connection', () => {
    const ask = askOf(poolOf(0), new ScriptedView());
    expect(reasonOf(choose(ask))).toEqual(['empty pool', null]);
  });

  it('B02 all set aside: says when the first is back', () => {
    const view = new ScriptedView();
    [61_000.2, 31_000.5, 91_000].forEach((until, index) => view.out.set(index, until));
    expect(reasonOf(choose(askOf(pool, view)))).toEqual(['all exits are set aside', 30_001]);
    expect(reasonOf(choose(askOf(pool, view, { sessionKey: 'k' })))).toEqual([
      'all exits are set aside',
      30_001,
    ]);
  });

  it('all full: nobody knows how long, so a second', () => {
    const view = new ScriptedView();
    [0, 1, 2].forEach((index) => view.busy.set(index, 2));
    expect(reasonOf(choose(askOf(pool, view)))).toEqual(['all slots are taken', 1000]);
  });

  it('some full, some out: the slot comes first', () => {
    const view = new ScriptedView();
    view.busy.set(0, 2);
    view.out.set(1, 31_000);
    view.out.set(2, 1200);
    expect(reasonOf(choose(askOf(pool, view)))).toEqual(['all slots are taken', 200]);
  });

  it('B15 all tried: waiting changes nothing', () => {
    const avoid = new Set(pool.upstreams.map(({ id }) => id));
    const ask = askOf(pool, new ScriptedView(), { avoid });
    expect(reasonOf(choose(ask))).toEqual(['every matching exit was tried', null]);
  });

  it('some tried, the others out', () => {
    const view = new ScriptedView();
    view.out.set(1, 5000);
    view.out.set(2, 6000);
    const ask = askOf(pool, view, { avoid: new Set([idAt(pool, 0)]) });
    expect(reasonOf(choose(ask))).toEqual(['every other matching exit is set aside', 4000]);
  });

  it('looks at no more than a few hundred of a big pool to say why', () => {
    const big = poolOf(20_000);
    const view = new ScriptedView();
    big.upstreams.forEach((_, index) => view.out.set(index, 5000));
    view.asked = 0;
    expect(reasonOf(choose(askOf(big, view)))).toEqual(['all exits are set aside', 4000]);
    expect(view.asked).toBeLessThan(20_000 + 300);
  });
});

describe('N14 a frozen exit', () => {
  const pool = poolOf(3);
  const frozen = (...indexes: number[]): ScriptedView => {
    const view = new ScriptedView();
    for (const index of indexes) view.frozen.add(index);
    return view;
  };

  it('gets no new requests and no new sessions', () => {
    const view = frozen(0, 2);
    for (let n = 0; n < 20; n++) {
      expect(choose(askOf(pool, view))).toMatchObject({ kind: 'exit', index: 1 });
      expect(choose(askOf(pool, view, { sessionKey: `s${n}` }))).toMatchObject({ kind: 'exit', index: 1 });
    }
  });

  it('keeps the session that is pinned to it, and no other that names it', () => {
    const view = frozen(0);
    const id = idAt(pool, 0);
    const pinned = { pinned: id, sessionKey: 's' };
    expect(choose(askOf(pool, view, pinned))).toMatchObject({ kind: 'exit', index: 0, why: 'pinned' });
    const named = { filter: { ...anyExit, upstream: id } };
    expect(choose(askOf(pool, view, { ...pinned, ...named }))).toMatchObject({ kind: 'exit', index: 0 });
    const refused = { kind: 'none', retryAfterMs: null, reason: 'all exits are frozen or draining' };
    expect(choose(askOf(pool, view, named))).toEqual(refused);
  });

  it('is no exit to wait for: with all of them frozen the answer is at once', () => {
    const refused = { kind: 'none', retryAfterMs: null, reason: 'all exits are frozen or draining' };
    expect(choose(askOf(pool, frozen(0, 1, 2)))).toEqual(refused);
    const tried = { avoid: new Set([idAt(pool, 0)]) };
    expect(choose(askOf(pool, frozen(1, 2), tried))).toMatchObject({
      reason: 'every other matching exit is frozen',
    });
  });
});
