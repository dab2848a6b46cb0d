import { describe, expect, it } from 'vitest';
import { ExitDesk } from '../../src/exits/exit-desk.js';
import { Roster } from '../../src/exits/roster.js';
import type { Pool } from '../../src/upstreams/pool.js';
import { upstreamAt } from '../upstreams/pools.js';
import { FakeClock } from '../support/fake-clock.js';
import { ledgerOf, SITE } from './ledgers.js';

/** A desk over one pool of `count` exits, with sessions on those that the test names. */
function deskOf(count: number) {
  const { ledger, pool } = ledgerOf(count);
  const clock = new FakeClock();
  const pinned = new Map<string, number>();
  const told: string[] = [];
  const gone: string[] = [];
  let pools: ReadonlyMap<string, Pool> = new Map([['main', pool]]);
  const desk = new ExitDesk({
    ...{ ledger, clock, roster: new Roster() },
    pins: { countOn: (ids) => Promise.resolve(new Map([...pinned].filter(([id]) => ids.has(id)))) },
    emit: (event) => told.push(event.type === 'note' ? event.what : event.type),
    pools: () => pools,
    setPools: (next) => (pools = next),
    onRemoved: (exits) => gone.push(...exits),
  });
  const ids = (): string[] => pools.get('main')?.upstreams.map(({ id }) => id) ?? [];
  /** What a change comes to, the time to gather changes being over. */
  const changed = async <T>(change: Promise<T>): Promise<T> => {
    for (let n = 0; n < 5; n++) {
      await Promise.resolve();
      clock.advance(5);
    }
    return change;
  };
  return {
    ...{ desk, ledger, clock, pinned, told, gone, ids, changed },
    id: (n: number) => upstreamAt(n).id,
  };
}

describe('the desk of exits', () => {
  it('adds an exit once, and gathers changes into one snapshot', async () => {
    const { desk, ids, id, changed, told } = deskOf(2);
    const both = Promise.all([desk.add('main', upstreamAt(2), 'me'), desk.add('main', upstreamAt(3), 'me')]);
    expect(await changed(both)).toEqual([true, true]);
    expect(ids()).toEqual([id(0), id(1), id(2), id(3)]);
    expect(await desk.add('main', upstreamAt(3), 'me')).toBe(false);
    expect(await desk.add('none', upstreamAt(3), 'me')).toBe(false);
    expect(told).toEqual(['exit_added', 'exit_added']);
  });

  it('freezes and thaws, tells of each once, and knows nobody else', () => {
    const { desk, id, told } = deskOf(1);
    expect([desk.order(id(0), 'frozen', 'me'), desk.order(id(0), 'frozen', 'me')]).toEqual([true, true]);
    expect(desk.row(id(0))?.state).toBe('frozen');
    expect([desk.order(id(0), null, 'me'), desk.order('u-none', 'frozen', 'me')]).toEqual([true, false]);
    expect(told).toEqual(['exit_frozen', 'exit_thawed']);
  });

  it('drains an exit when neither session nor request is on it', async () => {
    const { desk, ledger, ids, id, pinned, clock, changed, gone } = deskOf(2);
    ledger.begin(0, SITE, 0);
    pinned.set(id(0), 1);
    expect(await changed(desk.drain(id(0), 'me'))).toBe(false);
    ledger.end(0, SITE, 1);
    clock.advance(1000);
    await changed(Promise.resolve());
    expect(ids()).toEqual([id(0), id(1)]);
    pinned.clear();
    clock.advance(1000);
    await changed(Promise.resolve());
    expect([ids(), gone, ledger.orders.isEmpty]).toEqual([[id(1)], [id(0)], true]);
    expect(await desk.drain('u-none', 'me')).toBeNull();
    desk.close();
  });

  it('removes at once, from every pool, and what was added too', async () => {
    const { desk, ids, id, changed, gone } = deskOf(2);
    await changed(desk.add('main', upstreamAt(2), 'me'));
    expect(await changed(desk.remove(id(2), 'me'))).toBe(true);
    expect(await changed(desk.remove(id(0), 'me'))).toBe(true);
    expect(await desk.remove(id(0), 'me')).toBe(false);
    expect([ids(), gone]).toEqual([[id(1)], [id(2), id(0)]]);
  });

  it('pages from behind the exit of the page before, even when that has left', async () => {
    const { desk, id, changed } = deskOf(4);
    const query = { pool: null, state: null, limit: 2 };
    const first = desk.page({ ...query, after: null });
    expect(first.rows.map(({ exit }) => exit.upstream.id)).toEqual([id(0), id(1)]);
    await changed(desk.remove(id(1), 'me'));
    const second = desk.page({ ...query, after: first.next });
    expect([second.rows.map(({ exit }) => exit.upstream.id), second.next]).toEqual([[id(2), id(3)], null]);
    desk.order(id(3), 'frozen', 'me');
    expect(desk.page({ ...query, state: 'frozen', after: null }).rows).toHaveLength(1);
  });
});
