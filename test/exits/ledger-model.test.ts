/** The ledger against a model that keeps every event and works all out anew each time it is asked. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Effect } from '../../src/exits/effect.js';
import { Ledger } from '../../src/exits/ledger.js';
import type { TransportFault } from '../../src/facts/ban.js';
import { upstreamAt } from '../upstreams/pools.js';
import { noChance, poolIn, rules } from './ledgers.js';

const SITES = ['a', 'b'];
const EXITS = 4;
const TRIAL_MS = 60_000;

const step = fc.record({
  what: fc.constantFrom('begin', 'end', 'success', 'reached', 'fault', 'suspect', 'throttled', 'block'),
  slot: fc.nat(EXITS - 1),
  site: fc.constantFrom(...SITES),
  fault: fc.constantFrom<TransportFault>('refused', 'closed', 'timeout', 'silent', 'unclear', 'auth'),
  retryAfterMs: fc.constantFrom(null, 5000),
  waitMs: fc.constantFrom(0, 0, 1000, 5000, 30_000, 61_000, 400_000, 3_600_000),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** One thing that can be set aside: an exit altogether, or an exit for a site. */
interface Cell {
  phase: 'in_use' | 'out' | 'trying';
  untilMs: number;
  trialMs: number | null;
  strikes: number;
  changedMs: number;
  returnedMs: number;
}

const cell = (): Cell => ({
  phase: 'in_use',
  untilMs: 0,
  trialMs: null,
  strikes: 0,
  changedMs: -Infinity,
  returnedMs: -Infinity,
});

class Model {
  readonly exits = Array.from({ length: EXITS }, () => ({
    way: cell(),
    sites: new Map(SITES.map((site) => [site, cell()])),
    suspects: new Map(SITES.map((site) => [site, [] as number[]])),
    faults: [] as { fault: TransportFault; site: string; isOwn: boolean }[],
    worked: false,
    inFlight: 0,
  }));
  nowMs = 0;

  isUsable(slot: number, site: string): boolean {
    return [this.exit(slot).way, this.at(slot, site)].every((one) => this.isOpen(one));
  }

  /** Doubles every five seconds after the return, for half a minute, as long as a strike is remembered. */
  most(slot: number, site: string): number {
    const steps = [1, 2, 4, 8, 16, 32];
    const ofEach = [this.exit(slot).way, this.at(slot, site)].map(({ returnedMs, strikes }) =>
      strikes > 0 ? steps[Math.floor((this.nowMs - returnedMs) / 5000)] : undefined,
    );
    return Math.min(...ofEach.map((most) => most ?? Infinity));
  }

  run(next: Step): string {
    const exit = this.exit(next.slot);
    const both = [exit.way, this.at(next.slot, next.site)];
    switch (next.what) {
      case 'begin':
        exit.inFlight++;
        for (const one of both) if (one.phase !== 'in_use' && this.isOpen(one)) one.trialMs = this.nowMs;
        return 'none';
      case 'end':
        exit.inFlight = Math.max(0, exit.inFlight - 1);
        if (exit.inFlight === 0) for (const one of both) one.trialMs = null;
        return 'none';
      case 'success': {
        const way = this.worked(next.slot);
        exit.suspects.set(next.site, []);
        return this.good(this.at(next.slot, next.site), rules.siteMs) ? 'returned' : way;
      }
      case 'reached':
        return this.worked(next.slot);
      case 'fault':
        return this.fault(next);
      case 'suspect':
        return this.suspect(next);
      case 'throttled':
        this.worked(next.slot);
        return this.rest(next);
      case 'block':
        return this.bad(next.slot, next.site, { baseMs: rules.siteMs, capMs: rules.siteCapMs });
    }
  }

  private exit(slot: number): Model['exits'][number] {
    const exit = this.exits[slot];
    if (exit === undefined) throw new Error('no exit');
    return exit;
  }

  private at(slot: number, site: string | null): Cell {
    return site === null ? this.exit(slot).way : (this.exit(slot).sites.get(site) ?? cell());
  }

  private isOver(one: Cell): boolean {
    return one.phase === 'out' && this.nowMs >= one.untilMs;
  }

  private isOpen(one: Cell): boolean {
    if (one.phase === 'in_use') return true;
    return this.isOver(one) && (one.trialMs === null || this.nowMs >= one.trialMs + TRIAL_MS);
  }

  private worked(slot: number): string {
    const exit = this.exit(slot);
    exit.worked = true;
    exit.faults = [];
    return this.good(exit.way, rules.transportMs) ? 'returned' : 'none';
  }

  private good(one: Cell, baseMs: number): boolean {
    if (this.isOver(one)) {
      Object.assign(one, { phase: 'in_use', trialMs: null, changedMs: this.nowMs, returnedMs: this.nowMs });
      return true;
    }
    if (one.phase === 'in_use' && one.strikes > 0 && this.nowMs - one.changedMs >= baseMs) {
      one.strikes--;
      one.changedMs = this.nowMs;
    }
    return false;
  }

  private fault({ slot, site, fault }: Step): string {
    const exit = this.exit(slot);
    const isDoubtful = fault === 'silent' || (fault === 'auth' && exit.worked);
    exit.faults.push({ fault, site, isOwn: !isDoubtful && fault !== 'unclear' });
    if (exit.way.phase === 'in_use') {
      const hasTwoSites = new Set(exit.faults.map((one) => one.site)).size > 1;
      const own = exit.faults.filter(({ isOwn }) => isOwn).length;
      let isTooMany = own >= 2;
      if (fault === 'refused' || (fault === 'auth' && !isDoubtful)) isTooMany = true;
      else if (isDoubtful) isTooMany = exit.faults.length >= (hasTwoSites ? 2 : 5);
      else if (fault === 'unclear') isTooMany = hasTwoSites && exit.faults.length >= 4;
      if (!isTooMany) return 'none';
      if (fault === 'auth' && own === 0 && !hasTwoSites)
        return this.bad(slot, site, { baseMs: rules.transportMs, capMs: rules.transportMs });
    }
    const result = this.bad(slot, null, { baseMs: rules.transportMs, capMs: rules.transportCapMs });
    if (result === 'banned') exit.faults = [];
    return result;
  }

  private suspect({ slot, site }: Step): string {
    this.worked(slot);
    const seen = this.exit(slot).suspects.get(site) ?? [];
    if (seen[0] === undefined || this.nowMs - seen[0] > rules.suspectWindowMs) seen.length = 0;
    seen.push(this.nowMs);
    if (this.at(slot, site).phase === 'in_use' && seen.length < rules.suspectCount) return 'none';
    return this.bad(slot, site, { baseMs: rules.siteMs, capMs: rules.siteCapMs });
  }

  private rest({ slot, site, retryAfterMs }: Step): string {
    const one = this.at(slot, site);
    const baseMs = retryAfterMs ?? rules.transportMs;
    if (one.phase === 'out' && !this.isOver(one)) {
      const untilMs = this.nowMs + Math.min(baseMs * 2 ** (one.strikes - 1), rules.siteCapMs);
      if (untilMs > one.untilMs) this.exit(slot).suspects.set(site, []);
      one.untilMs = Math.max(one.untilMs, untilMs);
      return 'none';
    }
    return this.bad(slot, site, { baseMs, capMs: rules.siteCapMs, isOrder: retryAfterMs !== null });
  }

  private bad(
    slot: number,
    site: string | null,
    times: { baseMs: number; capMs: number; isOrder?: boolean },
  ): string {
    const one = this.at(slot, site);
    if (one.phase === 'out' && !this.isOver(one)) return 'none';
    const aside = this.exits.filter(({ way }) => way.phase === 'out').length;
    const there = this.exits.filter(({ sites }) => site !== null && sites.get(site)?.phase === 'out').length;
    if (one.phase === 'in_use' && times.isOrder !== true && aside + there >= EXITS / 2) return 'spared';
    one.strikes++;
    const forMs = Math.min(times.baseMs * 2 ** (one.strikes - 1), times.capMs);
    Object.assign(one, { phase: 'out', untilMs: this.nowMs + forMs, trialMs: null });
    Object.assign(one, { changedMs: this.nowMs, returnedMs: -Infinity });
    if (site !== null) this.exit(slot).suspects.set(site, []);
    return 'banned';
  }
}

function run(ledger: Ledger, next: Step, nowMs: number): Effect {
  const { slot, site } = next;
  switch (next.what) {
    case 'begin':
      ledger.begin(slot, site, nowMs);
      return { kind: 'none' };
    case 'end':
      ledger.end(slot, site, nowMs);
      return { kind: 'none' };
    case 'success':
      return ledger.recordSuccess(slot, site, nowMs);
    case 'reached':
      return ledger.recordReached(slot, nowMs);
    case 'fault':
      return ledger.recordTransportFailure(slot, next.fault, nowMs, site);
    case 'suspect':
      return ledger.recordSuspect(slot, site, nowMs);
    case 'throttled':
      return ledger.recordThrottled(slot, site, next.retryAfterMs, nowMs);
    case 'block':
      return ledger.ban(slot, site, { reason: 'captcha' }, nowMs);
  }
}

describe('G8 the ledger equals the model', () => {
  it('over 10,000 random sequences of events', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const ledger = new Ledger(rules, noChance);
        const pool = poolIn(
          ledger,
          Array.from({ length: EXITS }, (_, n) => upstreamAt(n)),
        );
        ledger.applyPools([pool], 0);
        const model = new Model();
        for (const next of steps) {
          model.nowMs += next.waitMs;
          expect(run(ledger, next, model.nowMs).kind).toBe(model.run(next));
          for (let slot = 0; slot < EXITS; slot++) {
            for (const site of SITES) {
              const most = ledger.mostInFlight(slot, site, model.nowMs);
              if (most !== model.most(slot, site))
                expect({ slot, site, most }).toEqual({ slot, site, most: model.most(slot, site) });
              const isUsable = ledger.isUsable(slot, site, model.nowMs);
              if (isUsable !== model.isUsable(slot, site)) {
                expect({ slot, site, isUsable }).toEqual({ slot, site, isUsable: !isUsable });
              }
            }
          }
        }
      }),
      { numRuns: 10_000 },
    );
  });
});
