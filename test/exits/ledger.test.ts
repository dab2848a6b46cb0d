import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { Ledger } from '../../src/exits/ledger.js';
import { upstreamAt } from '../upstreams/pools.js';
import { SITE, ledgerOf, poolIn, rules } from './ledgers.js';

function isUsable(ledger: Ledger, nowMs: number, slot = 0, site = SITE): boolean {
  return ledger.isUsable(slot, site, nowMs);
}

describe('Ledger: never the whole pool', () => {
  it.each([
    [1, 1],
    [2, 1],
    [3, 1],
    [10, 5],
    [11, 5],
  ])('of %i exits at most %i go by themselves', (count, most) => {
    const { ledger, pool } = ledgerOf(count);
    const effects = [...pool.slots].map((slot) => ledger.recordTransportFailure(slot, 'refused', 0).kind);
    expect(effects.filter((kind) => kind === 'banned')).toHaveLength(most);
    expect(effects.filter((kind) => kind === 'spared')).toHaveLength(count - most);
  });

  it('B01 bans for a site and faults count together; other sites have their own half', () => {
    const { ledger } = ledgerOf(4);
    ledger.recordTransportFailure(0, 'refused', 0);
    expect(ledger.ban(1, SITE, { reason: 'rule' }, 0).kind).toBe('banned');
    expect(ledger.ban(2, SITE, { reason: 'rule' }, 0)).toEqual({
      kind: 'spared',
      site: SITE,
      reason: 'rule',
      pool: 'main',
    });
    expect(ledger.ban(2, 'other.example', { reason: 'rule' }, 0).kind).toBe('banned');
  });

  it('who comes back makes room', () => {
    const { ledger } = ledgerOf(2);
    ledger.recordTransportFailure(0, 'refused', 0);
    expect(ledger.recordTransportFailure(1, 'refused', 0).kind).toBe('spared');
    ledger.recordSuccess(0, SITE, 30_000);
    expect(ledger.recordTransportFailure(1, 'refused', 30_001).kind).toBe('banned');
  });

  it('an order by hand, or by Retry-After, asks nobody', () => {
    const { ledger } = ledgerOf(2);
    ledger.ban(0, SITE, { reason: 'captcha' }, 0);
    expect(ledger.ban(1, SITE, { reason: 'captcha' }, 0).kind).toBe('spared');
    expect(ledger.recordThrottled(1, SITE, null, 0).kind).toBe('spared');
    expect(ledger.recordThrottled(1, SITE, 3000, 0).kind).toBe('banned');
    expect(ledger.ban(1, null, { reason: 'frozen', isOrder: true }, 0).kind).toBe('banned');
  });

  it('an exit of two pools goes only if both can do without it', () => {
    const ledger = new Ledger(rules, seededRandom(1));
    const shared = upstreamAt(0);
    const small = poolIn(ledger, [shared, upstreamAt(1)], 'small');
    const large = poolIn(ledger, [shared, ...[2, 3, 4, 5].map((n) => upstreamAt(n))], 'large');
    ledger.applyPools([small, large], 0);
    ledger.recordTransportFailure(small.slots[1] ?? 0, 'refused', 0);
    expect(ledger.recordTransportFailure(small.slots[0] ?? 0, 'refused', 0)).toMatchObject({
      kind: 'spared',
      pool: 'small',
    });
  });
});

describe('Ledger: reload', () => {
  it('keeps slots, bans and counts of exits that stay', () => {
    const { ledger, pool } = ledgerOf(4);
    ledger.begin(2, SITE, 0);
    ledger.ban(2, SITE, { reason: 'captcha' }, 0);
    ledger.recordTransportFailure(3, 'refused', 0);
    const next = poolIn(ledger, [...pool.upstreams].reverse());
    ledger.applyPools([next], 10, { ...rules, maxEjected: 0.25 });
    expect([...next.slots]).toEqual([3, 2, 1, 0]);
    expect([ledger.inFlight(2), isUsable(ledger, 20, 2), isUsable(ledger, 20, 3)]).toEqual([1, false, false]);
    expect(ledger.ban(1, SITE, { reason: 'captcha' }, 20).kind).toBe('spared');
  });

  it('forgets exits that are gone for two reloads, idle and blameless, and no others', () => {
    const { ledger, pool } = ledgerOf(4);
    const [first, second, third, fourth] = pool.upstreams;
    if (!first || !second || !third || !fourth) throw new Error('no upstreams');
    ledger.begin(1, SITE, 0);
    ledger.ban(2, SITE, { reason: 'captcha' }, 0);
    const rest = poolIn(ledger, [fourth]);
    for (let n = 0; n < 3; n++) ledger.applyPools([rest], n);
    expect(ledger.snapshot().map(({ upstream }) => upstream.id)).toEqual([second.id, third.id, fourth.id]);
    expect([ledger.intern(third), ledger.intern(upstreamAt(99)), ledger.intern(first)]).toEqual([2, 0, 4]);
  });

  it('an exit that is interned and not yet in a pool keeps its slot', () => {
    const { ledger, pool } = ledgerOf(1);
    const slot = ledger.intern(upstreamAt(7));
    ledger.applyPools([pool], 1);
    ledger.applyPools([pool], 2);
    expect(ledger.intern(upstreamAt(7))).toBe(slot);
  });
});

describe('Ledger: numbers', () => {
  it('knows what is in flight, never less than nothing', () => {
    const { ledger } = ledgerOf(1);
    ledger.begin(0, SITE, 0);
    ledger.begin(0, SITE, 0);
    ledger.end(0, SITE, 0);
    expect(ledger.inFlight(0)).toBe(1);
    ledger.end(0, SITE, 0);
    ledger.end(0, SITE, 0);
    expect([ledger.inFlight(0), ledger.inFlight(12_345)]).toEqual([0, 0]);
  });

  it('tells all about every exit', () => {
    const { ledger, pool } = ledgerOf(3);
    ledger.firstByte(0, 100);
    ledger.firstByte(0, 200);
    ledger.recordSuccess(0, SITE, 0);
    ledger.recordTransportFailure(1, 'refused', 0);
    ledger.ban(0, 'other.example', { reason: 'x', isOrder: true }, 0);
    const [first, second] = ledger.snapshot();
    expect(first).toEqual({
      upstream: pool.upstreams[0],
      order: null,
      inFlight: 0,
      firstByteMs: 120,
      downUntilMs: null,
      strikes: 0,
      successes: 1,
      failures: 0,
      bannedSites: ['other.example'],
    });
    expect(second).toMatchObject({ firstByteMs: null, downUntilMs: 30_000, strikes: 1, failures: 1 });
  });

  it('grows to thousands of exits', () => {
    const { ledger, pool } = ledgerOf(5000);
    ledger.begin(4999, SITE, 0);
    ledger.recordTransportFailure(4999, 'refused', 0);
    expect([pool.slots.at(-1), ledger.inFlight(4999), isUsable(ledger, 1, 4999)]).toEqual([4999, 1, false]);
  });
});
