import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { Ledger } from '../../src/exits/ledger.js';
import type { TransportFault } from '../../src/facts/ban.js';
import { upstreamAt } from '../upstreams/pools.js';
import { HOUR_MS, SITE, ledgerOf, poolIn, rules } from './ledgers.js';

const none = { kind: 'none' };

function isUsable(ledger: Ledger, nowMs: number, slot = 0, site = SITE): boolean {
  return ledger.isUsable(slot, site, nowMs);
}

describe('Ledger: the way to an exit', () => {
  it('B04 a refused dial takes it out for 30 s at once, for all sites', () => {
    const { ledger } = ledgerOf(10);
    expect(ledger.recordTransportFailure(0, 'refused', 1000)).toEqual({
      kind: 'banned',
      site: null,
      reason: 'refused',
      strikes: 1,
      forMs: 30_000,
    });
    expect([isUsable(ledger, 30_999), isUsable(ledger, 30_999, 0, 'other.example')]).toEqual([false, false]);
    expect(isUsable(ledger, 30_999, 1)).toBe(true);
    expect(ledger.usableAtMs(0, SITE)).toBe(31_000);
  });

  it.each<TransportFault>(['unreachable', 'timeout', 'dns', 'tls', 'closed', 'reset', 'protocol', 'error'])(
    'B04 %s takes it out when it comes twice in a row',
    (fault) => {
      const { ledger } = ledgerOf(10);
      expect(ledger.recordTransportFailure(0, fault, 1)).toEqual(none);
      ledger.recordSuccess(0, SITE, 2);
      expect(ledger.recordTransportFailure(0, fault, 3)).toEqual(none);
      expect(ledger.recordTransportFailure(0, fault, 4)).toMatchObject({ kind: 'banned', reason: fault });
    },
  );

  it('a refused login takes it out at once, unless it was good before', () => {
    const { ledger } = ledgerOf(10);
    expect(ledger.recordTransportFailure(0, 'auth', 1, SITE)).toMatchObject({ kind: 'banned' });
    ledger.recordSuccess(1, 'other.example', 1);
    expect(ledger.recordTransportFailure(1, 'auth', 2, SITE)).toEqual(none);
    expect(ledger.recordTransportFailure(1, 'auth', 3, SITE)).toEqual(none);
    expect(ledger.recordTransportFailure(1, 'auth', 4, 'third.example')).toMatchObject({ kind: 'banned' });
  });

  it('S7 an exit that a site has taken back takes few at once for that site at first, and as ever for others', () => {
    const { ledger } = ledgerOf(4);
    ledger.ban(0, SITE, { reason: 'captcha' }, 0);
    expect(ledger.mostInFlight(0, SITE, 1)).toBe(Infinity);
    ledger.begin(0, SITE, HOUR_MS);
    ledger.recordSuccess(0, SITE, HOUR_MS);
    const after = [0, 4999, 5000, 10_000, 29_999, 30_000];
    expect(after.map((ms) => ledger.mostInFlight(0, SITE, HOUR_MS + ms))).toEqual([1, 1, 2, 4, 32, Infinity]);
    expect(ledger.mostInFlight(0, 'other.example', HOUR_MS)).toBe(Infinity);
  });

  it('B21 a login that was good, refused with one site only, sets the exit aside there alone', () => {
    const { ledger } = ledgerOf(4);
    ledger.recordSuccess(1, 'other.example', 1);
    for (let n = 0; n < 4; n++) expect(ledger.recordTransportFailure(1, 'auth', 2, SITE)).toEqual(none);
    expect(ledger.recordTransportFailure(1, 'auth', 3, SITE)).toMatchObject({
      ...{ kind: 'banned', site: SITE, forMs: 30_000 },
    });
    expect([ledger.isUsable(1, SITE, 4), ledger.isUsable(1, 'other.example', 4)]).toEqual([false, true]);
    expect(ledger.recordTransportFailure(1, 'auth', 5, 'third.example')).toMatchObject({ site: null });
  });

  it('B05 silence counts when two sites meet it, or one site five times', () => {
    const { ledger } = ledgerOf(10);
    ledger.recordTransportFailure(0, 'silent', 1, 'a.example');
    expect(ledger.recordTransportFailure(0, 'silent', 2, 'b.example')).toMatchObject({ kind: 'banned' });
    for (let n = 1; n < 5; n++)
      expect(ledger.recordTransportFailure(1, 'silent', n, 'a.example')).toEqual(none);
    expect(ledger.recordTransportFailure(1, 'silent', 5, 'a.example')).toMatchObject({ kind: 'banned' });
  });

  it('B19 bare gateway errors of one site never count, of several sites the fourth does', () => {
    const { ledger } = ledgerOf(10);
    for (let n = 0; n < 50; n++) {
      expect(ledger.recordTransportFailure(0, 'unclear', n, 'a.example')).toEqual(none);
    }
    ['a', 'b', 'a'].forEach((site, n) => ledger.recordTransportFailure(1, 'unclear', n, site));
    expect(ledger.recordTransportFailure(1, 'unclear', 4, 'b')).toMatchObject({ kind: 'banned' });
    expect(ledger.recordTransportFailure(0, 'closed', 60, 'a.example')).toEqual(none);
  });

  it('half-open: one trial is let through, and a good one brings it back', () => {
    const { ledger } = ledgerOf(10);
    ledger.recordTransportFailure(0, 'refused', 0);
    expect(isUsable(ledger, 30_000)).toBe(true);
    ledger.begin(0, SITE, 30_000);
    expect([isUsable(ledger, 30_001), ledger.usableAtMs(0, SITE)]).toEqual([false, 31_000]);
    expect(ledger.recordSuccess(0, SITE, 30_500)).toEqual({ kind: 'returned', site: null });
    ledger.end(0, SITE, 30_600);
    expect(isUsable(ledger, 30_600)).toBe(true);
  });

  it('S4 half-open: the trial is asked for first; where another gateway has it, a moment is waited', () => {
    const { ledger } = ledgerOf(10);
    ledger.recordTransportFailure(0, 'refused', 0);
    ledger.ban(0, SITE, { reason: 'x', forMs: 20_000 }, 0);
    expect([ledger.trialsDue(0, SITE, 29_000), ledger.trialsDue(1, SITE, 29_000)]).toEqual([[SITE], []]);
    expect(ledger.trialsDue(0, SITE, 30_000)).toEqual([null, SITE]);
    ledger.beginTrials(0, SITE, 30_000);
    expect([isUsable(ledger, 30_001), ledger.trialsDue(0, SITE, 30_001)]).toEqual([false, []]);
    ledger.leaveTrials(0, SITE, 31_000);
    expect([isUsable(ledger, 30_999), isUsable(ledger, 31_000)]).toEqual([false, true]);
    ledger.begin(0, SITE, 31_000);
    expect(ledger.recordSuccess(0, SITE, 31_500)).toEqual({
      kind: 'returned',
      site: SITE,
      isEverywhere: true,
    });
    ledger.leaveTrials(1, SITE, 0);
    ledger.beginTrials(1, SITE, 0);
  });

  it('S4 half-open: a trial of another gateway that went well brings it back slowly', () => {
    const { ledger } = ledgerOf(10);
    ledger.ban(0, SITE, { reason: 'x', forMs: 20_000 }, 0);
    ledger.lift(0, SITE, 21_000, true);
    expect([isUsable(ledger, 21_000), ledger.mostInFlight(0, SITE, 21_000)]).toEqual([true, 1]);
  });

  it('half-open: any fault takes it out again, twice as long each time, up to the cap', () => {
    const { ledger } = ledgerOf(10);
    let nowMs = 0;
    const times: number[] = [];
    for (let n = 0; n < 9; n++) {
      ledger.begin(0, SITE, nowMs);
      const effect = ledger.recordTransportFailure(0, n === 0 ? 'refused' : 'unclear', nowMs, SITE);
      ledger.end(0, SITE, nowMs);
      if (effect.kind !== 'banned') throw new Error('not banned');
      times.push(effect.forMs / 1000);
      nowMs += effect.forMs;
    }
    expect(times).toEqual([30, 60, 120, 240, 480, 960, 1920, 3600, 3600]);
  });

  it('half-open: a trial that ends without a word makes room for the next', () => {
    const { ledger } = ledgerOf(10);
    ledger.recordTransportFailure(0, 'refused', 0);
    ledger.begin(0, SITE, 30_000);
    ledger.end(0, SITE, 30_010);
    expect(isUsable(ledger, 30_011)).toBe(true);
  });

  it('half-open: an old tunnel that is still up does not keep the exit shut for good', () => {
    const { ledger } = ledgerOf(10);
    ledger.begin(0, SITE, 0);
    ledger.recordTransportFailure(0, 'refused', 0);
    ledger.begin(0, SITE, 30_000);
    ledger.end(0, SITE, 30_010);
    expect([isUsable(ledger, 30_011), isUsable(ledger, 90_001)]).toEqual([false, true]);
  });

  it('answers from before the ban neither lift nor lengthen it', () => {
    const { ledger } = ledgerOf(10);
    ledger.recordTransportFailure(0, 'refused', 0);
    expect(ledger.recordSuccess(0, SITE, 100)).toEqual(none);
    expect(ledger.recordTransportFailure(0, 'refused', 200)).toEqual(none);
    expect([isUsable(ledger, 29_999), isUsable(ledger, 30_000)]).toEqual([false, true]);
  });

  it('an exit that works for a while is forgiven strike by strike', () => {
    const { ledger } = ledgerOf(10);
    ledger.recordTransportFailure(0, 'refused', 0);
    ledger.recordSuccess(0, SITE, 30_000);
    ledger.recordSuccess(0, SITE, 60_000);
    expect(ledger.recordTransportFailure(0, 'refused', 60_001)).toMatchObject({ strikes: 1 });
  });

  it('a target’s own fault shows that the way is sound', () => {
    const { ledger } = ledgerOf(10);
    ledger.recordTransportFailure(0, 'closed', 0);
    expect(ledger.recordReached(0, 1)).toEqual(none);
    expect(ledger.recordTransportFailure(0, 'closed', 2)).toEqual(none);
  });
});

describe('Ledger: bans for a site', () => {
  it('G8 S5 last an hour, then two, up to a day, and leave other sites alone', () => {
    const { ledger } = ledgerOf(10);
    let nowMs = 0;
    const hours: number[] = [];
    for (let n = 0; n < 7; n++) {
      const effect = ledger.ban(0, SITE, { reason: 'captcha' }, nowMs);
      if (effect.kind !== 'banned') throw new Error('not banned');
      hours.push(effect.forMs / HOUR_MS);
      expect(isUsable(ledger, nowMs + effect.forMs - 1)).toBe(false);
      expect(isUsable(ledger, nowMs, 0, 'other.example')).toBe(true);
      nowMs += effect.forMs;
      expect(isUsable(ledger, nowMs)).toBe(true);
    }
    expect(hours).toEqual([1, 2, 4, 8, 16, 24, 24]);
  });

  it('G8 the exit is back by one good trial', () => {
    const { ledger } = ledgerOf(10);
    ledger.ban(0, SITE, { reason: 'captcha' }, 0);
    ledger.begin(0, SITE, HOUR_MS);
    expect(isUsable(ledger, HOUR_MS)).toBe(false);
    expect(isUsable(ledger, HOUR_MS, 0, 'other.example')).toBe(true);
    expect(ledger.recordSuccess(0, SITE, HOUR_MS + 1)).toEqual({ kind: 'returned', site: SITE });
    expect(ledger.ban(0, SITE, { reason: 'captcha' }, HOUR_MS + 2)).toMatchObject({ strikes: 2 });
  });

  it('two blocks at once are one strike', () => {
    const { ledger } = ledgerOf(10);
    ledger.ban(0, SITE, { reason: 'captcha' }, 0);
    expect(ledger.ban(0, SITE, { reason: 'captcha' }, 1)).toEqual(none);
    expect(ledger.usableAtMs(0, SITE)).toBe(HOUR_MS);
  });

  it('B07 suspect answers ban when there are enough in the window and nothing good between', () => {
    const { ledger } = ledgerOf(10);
    expect(ledger.recordSuspect(0, SITE, 0)).toEqual(none);
    ledger.recordSuccess(0, SITE, 1);
    expect(ledger.recordSuspect(0, SITE, 2)).toEqual(none);
    expect(ledger.recordSuspect(0, 'other.example', 3)).toEqual(none);
    expect(ledger.recordSuspect(0, SITE, 600_003)).toEqual(none);
    expect(ledger.recordSuspect(0, SITE, 600_004)).toMatchObject({ kind: 'banned', reason: 'suspect' });
    expect(ledger.recordSuspect(0, SITE, 600_005)).toEqual(none);
    expect(isUsable(ledger, 600_005)).toBe(false);
  });

  it('a suspect answer to the trial bans again at once', () => {
    const { ledger } = ledgerOf(10);
    ledger.ban(0, SITE, { reason: 'captcha' }, 0);
    ledger.begin(0, SITE, HOUR_MS);
    expect(ledger.recordSuspect(0, SITE, HOUR_MS)).toMatchObject({ kind: 'banned', strikes: 2 });
  });

  it.each([
    [3000, 3000],
    [null, 30_000],
    [1e12, 24 * HOUR_MS],
  ])('B11 Retry-After %j rests the exit for %i ms there, longer the next time', (retryAfterMs, restMs) => {
    const { ledger } = ledgerOf(10);
    expect(ledger.recordThrottled(0, SITE, retryAfterMs, 0)).toMatchObject({
      reason: 'throttled',
      forMs: restMs,
    });
    expect(ledger.recordThrottled(0, SITE, retryAfterMs, 1)).toEqual(none);
    const doubled = Math.min(restMs * 2, 24 * HOUR_MS);
    expect(ledger.recordThrottled(0, SITE, retryAfterMs, 2 + restMs)).toMatchObject({ forMs: doubled });
  });

  it('a longer word makes the rest longer', () => {
    const { ledger } = ledgerOf(10);
    ledger.recordThrottled(0, SITE, 3000, 0);
    ledger.recordThrottled(0, SITE, 60_000, 1);
    expect(ledger.usableAtMs(0, SITE)).toBe(60_001);
  });

  it('B10 chance spreads the ends upwards', () => {
    const ledger = new Ledger({ ...rules, maxEjected: 1 }, seededRandom(5));
    const pool = poolIn(
      ledger,
      Array.from({ length: 100 }, (_, n) => upstreamAt(n)),
    );
    ledger.applyPools([pool], 0);
    const ends = [...pool.slots].map((slot) => {
      ledger.ban(slot, SITE, { reason: 'captcha' }, 0);
      return ledger.usableAtMs(slot, SITE) / HOUR_MS;
    });
    expect(Math.min(...ends)).toBeGreaterThanOrEqual(1);
    expect(Math.max(...ends)).toBeLessThan(1.2);
    expect(new Set(ends).size).toBe(100);
  });

  it('is lifted by hand, strikes stay', () => {
    const { ledger } = ledgerOf(10);
    ledger.ban(0, SITE, { reason: 'captcha' }, 0);
    ledger.ban(1, null, { reason: 'by hand', isOrder: true, forMs: 5000 }, 0);
    ledger.lift(0, SITE, 1);
    ledger.lift(1, null, 1);
    ledger.lift(2, null, 1);
    expect([isUsable(ledger, 2), isUsable(ledger, 2, 1)]).toEqual([true, true]);
    expect(ledger.ban(0, SITE, { reason: 'captcha' }, 3)).toMatchObject({ strikes: 2 });
  });
});
