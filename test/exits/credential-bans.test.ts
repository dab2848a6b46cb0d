/** Logins that a site has banned, and the exits that share them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/core/secret.js';
import { Ledger } from '../../src/exits/ledger.js';
import { credentialId } from '../../src/upstreams/credential-of.js';
import type { Upstream } from '../../src/upstreams/upstream.js';
import { upstreamAt } from '../upstreams/pools.js';
import { HOUR_MS, noChance, poolIn, rules, SITE } from './ledgers.js';

const MINUTE_MS = 60_000;
const blocked = { reason: 'account' };

/** Exit `n` under a login; null for none. */
function exitAt(n: number, username: string | null): Upstream {
  const login = username === null ? null : { username, password: new Secret('pw') };
  return { ...upstreamAt(n), id: `u-${n}`, login };
}

/** A ledger whose exits, from slot 0, have these logins. */
function ledgerWith(...logins: (string | null)[]): { ledger: Ledger; exits: Upstream[] } {
  const ledger = new Ledger(rules, noChance);
  const exits = logins.map((name, n) => exitAt(n, name));
  ledger.applyPools([poolIn(ledger, exits)], 0);
  return { ledger, exits };
}

function usable(
  { ledger, exits }: { ledger: Ledger; exits: Upstream[] },
  nowMs: number,
  site = SITE,
): number[] {
  return [...exits.keys()].filter((slot) => ledger.isUsable(slot, site, nowMs));
}

function at<T>(list: readonly T[], n: number): T {
  const item = list[n];
  if (item === undefined) throw new Error('no such exit');
  return item;
}

describe('N1 a ban of a credential', () => {
  it('sets aside at the site all exits that share the login, and no other', () => {
    const world = ledgerWith('bob', 'eve', 'bob', null);
    const effect = world.ledger.credentials.ban(at(world.exits, 0), SITE, blocked, 0);
    expect(effect).toMatchObject({
      kind: 'banned',
      credential: credentialId('bob'),
      site: SITE,
      forMs: HOUR_MS,
    });
    expect(usable(world, 1)).toEqual([1, 3]);
    expect(usable(world, 1, 'other.example')).toEqual([0, 1, 2, 3]);
    expect(world.ledger.usableAtMs(2, SITE)).toBe(HOUR_MS);
    expect(world.ledger.bans()).toEqual([]);
    expect(world.ledger.credentials.held()).toMatchObject([{ credential: credentialId('bob'), site: SITE }]);
  });

  it('holds nothing against an exit without a login', () => {
    const world = ledgerWith(null, 'bob');
    expect(world.ledger.credentials.ban(at(world.exits, 0), SITE, blocked, 0)).toEqual({ kind: 'none' });
    expect(usable(world, 1)).toEqual([0, 1]);
  });

  it('ends in one trial for all of its exits, which brings all back or none, for longer', () => {
    const world = ledgerWith('bob', 'bob', 'eve');
    const { ledger, exits } = world;
    ledger.credentials.ban(at(exits, 0), SITE, blocked, 0);
    expect(usable(world, HOUR_MS)).toEqual([0, 1, 2]);
    ledger.begin(1, SITE, HOUR_MS);
    expect(usable(world, HOUR_MS + 1)).toEqual([2]);
    expect(ledger.credentials.ban(at(exits, 1), SITE, blocked, HOUR_MS + 2)).toMatchObject({
      ...{ strikes: 2, forMs: 2 * HOUR_MS },
    });
    ledger.end(1, SITE, HOUR_MS + 3);
    ledger.begin(0, SITE, 4 * HOUR_MS);
    ledger.recordSuccess(0, SITE, 4 * HOUR_MS);
    expect(usable(world, 4 * HOUR_MS)).toEqual([0, 1, 2]);
  });

  it('lets another trial go when the first ended without a word; what began before the ban ends none', () => {
    const world = ledgerWith('bob', 'bob');
    const { ledger, exits } = world;
    ledger.begin(0, SITE, 0);
    ledger.credentials.ban(at(exits, 1), SITE, blocked, 0);
    ledger.begin(1, SITE, HOUR_MS);
    ledger.end(0, SITE, HOUR_MS + 1);
    expect(usable(world, HOUR_MS + 2)).toEqual([]);
    ledger.end(1, SITE, HOUR_MS + 3);
    expect(usable(world, HOUR_MS + 4)).toEqual([0, 1]);
  });

  it('is forgotten strike by strike with good answers', () => {
    const { ledger, exits } = ledgerWith('bob', 'eve');
    ledger.credentials.ban(at(exits, 0), SITE, blocked, 0);
    ledger.begin(0, SITE, HOUR_MS);
    ledger.recordSuccess(0, SITE, HOUR_MS);
    expect(ledger.credentials.isEmpty).toBe(false);
    ledger.recordSuccess(0, SITE, HOUR_MS + MINUTE_MS);
    expect(ledger.credentials.isEmpty).toBe(false);
    ledger.recordSuccess(0, SITE, 2 * HOUR_MS);
    expect(ledger.credentials.isEmpty).toBe(true);
  });

  it('takes at most half of the logins of a pool, one at least', () => {
    const { ledger, exits } = ledgerWith('a', 'a', 'b', 'c', 'd');
    const kinds = [0, 2, 3].map((n) => ledger.credentials.ban(at(exits, n), SITE, blocked, 0));
    expect(kinds).toMatchObject([
      { kind: 'banned' },
      { kind: 'banned' },
      { kind: 'spared', credential: credentialId('c'), pool: 'main' },
    ]);
    const alone = ledgerWith('a', 'a');
    expect(alone.ledger.credentials.ban(at(alone.exits, 0), SITE, blocked, 0).kind).toBe('banned');
    expect(usable(alone, 1)).toEqual([]);
  });

  it('outlives new pools, with its exits or with others of the same login', () => {
    const { ledger, exits } = ledgerWith('bob', 'eve');
    ledger.credentials.ban(at(exits, 0), SITE, blocked, 0);
    const pool = poolIn(ledger, [exitAt(7, 'bob'), exitAt(8, 'new'), exitAt(9, 'other')]);
    ledger.applyPools([pool], 1);
    const [bob, fresh] = pool.slots;
    expect([ledger.isUsable(bob ?? 0, SITE, 2), ledger.isUsable(fresh ?? 0, SITE, 2)]).toEqual([false, true]);
    expect(ledger.credentials.ban(exitAt(8, 'new'), SITE, blocked, 2).kind).toBe('spared');
  });

  it('rests when the site asks for less, for as long as that says, with no regard to the share', () => {
    const world = ledgerWith('bob', 'bob');
    const { ledger, exits } = world;
    expect(ledger.credentials.throttle(at(exits, 0), SITE, 5000, 0)).toMatchObject({ forMs: 5000 });
    expect([usable(world, 4999), usable(world, 5000)]).toEqual([[], [0, 1]]);
    expect(ledger.credentials.throttle(exitAt(5, null), SITE, 5000, 0)).toEqual({ kind: 'none' });
  });

  it('is said, noted and lifted by its id', () => {
    const world = ledgerWith('bob', 'eve');
    const { credentials } = world.ledger;
    const id = credentialId('eve');
    expect(credentials.lift(id, SITE, 0)).toBe(false);
    expect(credentials.banById('c-nobody', SITE, blocked, 0)).toBeNull();
    expect(
      credentials.banById(id, SITE, { ...blocked, forMs: 90 * HOUR_MS, isExact: true }, 0),
    ).toMatchObject({
      forMs: 90 * HOUR_MS,
    });
    const evidence = {
      requestId: 'r',
      status: 200,
      rule: 'x',
      field: 'y',
      found: '',
      bodyHash: null,
      bodyStart: null,
    };
    credentials.note(id, SITE, evidence, 1);
    expect(credentials.held()).toMatchObject([{ credential: id, ban: { evidence } }]);
    expect([usable(world, 1), credentials.lift(id, SITE, 2), credentials.lift(id, SITE, 2)]).toEqual([
      ...[[0], true, false],
    ]);
    expect(usable(world, 3)).toEqual([0, 1]);
  });

  it('is taken back with the bans of exits when the site itself was at fault', () => {
    const world = ledgerWith('bob', 'eve');
    world.ledger.credentials.ban(at(world.exits, 0), SITE, blocked, 1000);
    expect(world.ledger.rollBack(SITE, 2000, 3000)).toBe(0);
    expect(world.ledger.rollBack(SITE, 500, 3000)).toBe(1);
    expect(usable(world, 3000)).toEqual([0, 1]);
  });

  it('treats all exits of a login alike, whatever happens', () => {
    const step = fc.record({
      what: fc.constantFrom('ban', 'throttle', 'begin', 'end', 'good', 'lift'),
      slot: fc.nat(3),
      waitMs: fc.constantFrom(0, 1000, MINUTE_MS, HOUR_MS, 3 * HOUR_MS),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const world = ledgerWith('bob', 'bob', 'eve', null);
        const { ledger, exits } = world;
        let nowMs = 0;
        for (const { what, slot, waitMs } of steps) {
          nowMs += waitMs;
          const exit = at(exits, slot);
          if (what === 'ban') ledger.credentials.ban(exit, SITE, blocked, nowMs);
          else if (what === 'throttle') ledger.credentials.throttle(exit, SITE, 5000, nowMs);
          else if (what === 'begin') ledger.begin(slot, SITE, nowMs);
          else if (what === 'end') ledger.end(slot, SITE, nowMs);
          else if (what === 'good') ledger.recordSuccess(slot, SITE, nowMs);
          else ledger.credentials.lift(credentialId('bob'), SITE, nowMs);
          const free = usable(world, nowMs);
          expect(free.includes(0)).toBe(free.includes(1));
          expect(free).toContain(3);
        }
      }),
      { numRuns: 300 },
    );
  });
});
