import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.js';
import { BanDesk, banId } from '../../src/exits/ban-desk.js';
import { credentialId } from '../../src/upstreams/credential-of.js';
import type { Upstream } from '../../src/upstreams/upstream.js';
import { upstreamAt } from '../upstreams/pools.js';
import { FakeClock } from '../support/fake-clock.js';
import { HOUR_MS, ledgerOf, poolIn } from './ledgers.js';

function deskOf(count: number, more: readonly Upstream[] = []) {
  const { ledger } = ledgerOf(0);
  const exits = Array.from({ length: count }, (_, n) => upstreamAt(n));
  const pool = poolIn(ledger, [...exits, ...more]);
  ledger.applyPools([pool], 0);
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

  it('bans the login of exits for a site only, tells of it, and lifts it by its name', () => {
    const login = { username: 'bob', password: new Secret('pw') };
    const { desk, ledger, told } = deskOf(2, [{ ...upstreamAt(8), login }]);
    const exit = credentialId('bob');
    expect(desk.ban({ ...order, exit, site: null })).toEqual({ kind: 'needs_site' });
    expect(desk.ban({ ...order, exit: 'c-none', site: 'shop.example' })).toEqual({ kind: 'unknown_exit' });
    expect(desk.ban({ ...order, exit, site: 'www.shop.example' })).toMatchObject({
      row: { id: `${exit}:shop.example`, upstream: null, credential: exit, leftMs: HOUR_MS },
    });
    expect([ledger.isUsable(2, 'shop.example', 1), told]).toEqual([
      ...[false, ['credential_banned', 'exit_banned_by_order']],
    ]);
    expect([desk.lift(`${exit}:shop.example`, 'me'), desk.list()]).toEqual([true, []]);
    expect(ledger.isUsable(2, 'shop.example', 1)).toBe(true);
  });
});
