import { describe, expect, it } from 'vitest';
import { BanDesk, banId } from '../../src/exits/ban-desk.js';
import { upstreamAt } from '../upstreams/pools.js';
import { FakeClock } from '../support/fake-clock.js';
import { HOUR_MS, ledgerOf } from './ledgers.js';

function deskOf(count: number) {
  const { ledger, pool } = ledgerOf(count);
  const clock = new FakeClock();
  const told: string[] = [];
  const desk = new BanDesk({
    ...{ ledger, clock },
    emit: (event) => told.push(event.type === 'note' ? event.what : event.type),
    slotOf: (id) => pool.slots[pool.indexById.get(id) ?? -1] ?? null,
  });
  return { desk, ledger, clock, told, id: (n: number) => upstreamAt(n).id };
}
const order = { forMs: null, reason: 'by hand', by: 'me' };

describe('the desk of bans', () => {
  it('bans for a site by any host of it, exactly as long as a person says, and tells of it', () => {
    const { desk, ledger, clock, told, id } = deskOf(2);
    const banned = desk.ban({ ...order, exit: id(0), site: 'www.shop.example', forMs: 90 * HOUR_MS });
    expect(banned).toMatchObject({ kind: 'banned', row: { site: 'shop.example', leftMs: 90 * HOUR_MS } });
    expect(ledger.isUsable(0, 'shop.example', clock.nowMs())).toBe(false);
    expect(ledger.isUsable(0, 'other.example', clock.nowMs())).toBe(true);
    expect(told).toEqual(['exit_banned', 'exit_banned_by_order']);
    clock.advance(91 * HOUR_MS);
    expect(desk.list()).toMatchObject([{ phase: 'half_open', leftMs: 0 }]);
  });

  it('bans the last exit too, for all sites and as the rules say', () => {
    const { desk, id } = deskOf(1);
    expect(desk.ban({ ...order, exit: id(0), site: null })).toMatchObject({
      row: { id: `${id(0)}:*`, leftMs: 30_000 },
    });
  });

  it('knows neither exits of no pool nor what is no site', () => {
    const { desk, id } = deskOf(1);
    expect(desk.ban({ ...order, exit: 'u-none', site: null })).toEqual({ kind: 'unknown_exit' });
    expect(desk.ban({ ...order, exit: id(0), site: 'no site' })).toEqual({ kind: 'bad_site' });
    expect(desk.list()).toEqual([]);
  });

  it('lifts by the name of the ban, once', () => {
    const { desk, told, id } = deskOf(2);
    desk.ban({ ...order, exit: id(1), site: 'shop.example' });
    const name = banId(id(1), 'shop.example');
    expect([desk.lift(banId(id(1), null), 'me'), desk.lift(name, 'me'), desk.lift(name, 'me')]).toEqual([
      ...[false, true, false],
    ]);
    expect([desk.list(), told.at(-1)]).toEqual([[], 'exit_lifted']);
  });
});
