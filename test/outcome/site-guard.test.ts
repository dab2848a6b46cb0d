import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CANARY_LAPSE_MS,
  SiteGuard,
  type GuardChange,
  type GuardRules,
  type Sighting,
} from '../../src/outcome/site-guard.js';
import { RECENT_TRIES } from '../../src/outcome/site-watch.js';

const SITE = 'shop.example';
const rules: GuardRules = {
  isOn: true,
  exits: 5,
  share: 0.8,
  windowMs: 60_000,
  canaryMs: 5000,
  suspendMs: 600_000,
};
const good: Sighting = { kind: 'good' };
const bad: Sighting = { kind: 'bad', rule: null };
const fired: Sighting = { kind: 'bad', rule: 'rule captcha' };
const none = { kind: 'none' };

/** Shows the same through exits 0, 1, …, one a second, and gives what the last of them changed. */
function show(guard: SiteGuard, count: number, sighting: Sighting, fromMs = 0): GuardChange {
  let change: GuardChange = { kind: 'none' };
  for (let n = 0; n < count; n++) change = guard.saw(SITE, n, sighting, fromMs + n * 1000);
  return change;
}

describe('a site that is down', () => {
  it('is told by the fifth exit that fails, where none is good', () => {
    const guard = new SiteGuard(rules);
    expect(show(guard, 4, bad)).toEqual(none);
    expect(guard.isDown(SITE)).toBe(false);
    expect(guard.saw(SITE, 4, bad, 10_000)).toEqual({ kind: 'site_down', sinceMs: -50_000, exits: 5 });
    expect([guard.isDown(SITE), guard.isDown('other.example')]).toEqual([true, false]);
    expect(guard.guarded()).toEqual([{ site: SITE, state: 'down', rule: null, sinceMs: 10_000, exits: 5 }]);
  });

  it('is not told by few exits, however often they fail, nor by failures of long ago', () => {
    const guard = new SiteGuard(rules);
    for (let n = 0; n < 100; n++) expect(guard.saw(SITE, n % 4, bad, n)).toEqual(none);
    expect(guard.saw(SITE, 4, bad, 60_200)).toEqual(none);
  });

  it('after good pages needs four fifths of the last tries', () => {
    const guard = new SiteGuard(rules);
    guard.saw(SITE, 9, good, 0);
    let downAt = -1;
    for (let n = 1; n <= 30 && downAt < 0; n++) {
      if (guard.saw(SITE, n % 6, bad, n).kind === 'site_down') downAt = n;
    }
    expect(downAt).toBe(RECENT_TRIES - 1);
  });

  it('is none where every third page is good', () => {
    const guard = new SiteGuard(rules);
    for (let n = 0; n < 500; n++) expect(guard.saw(SITE, n % 7, n % 3 === 0 ? good : bad, n)).toEqual(none);
  });

  it('lets one canary through at a time, and tells the others how long to wait', () => {
    const guard = new SiteGuard(rules);
    show(guard, 5, bad);
    expect(guard.admit(SITE, 4000)).toEqual({ kind: 'closed', retryAfterMs: 5000 });
    expect(guard.admit(SITE, 8000)).toEqual({ kind: 'closed', retryAfterMs: 1000 });
    expect(guard.admit(SITE, 9000)).toEqual({ kind: 'canary' });
    expect(guard.admit(SITE, 9001)).toEqual({ kind: 'closed', retryAfterMs: 5000 });
    expect(guard.admit('other.example', 9001)).toEqual({ kind: 'open' });
    guard.canaryEnded(SITE, 10_000);
    expect(guard.admit(SITE, 14_999)).toMatchObject({ kind: 'closed', retryAfterMs: 1 });
    expect(guard.admit(SITE, 15_000)).toEqual({ kind: 'canary' });
    expect(guard.admit(SITE, 15_000 + CANARY_LAPSE_MS)).toEqual({ kind: 'canary' });
  });

  it('is up again by one good answer, whoever brings it', () => {
    const guard = new SiteGuard(rules);
    show(guard, 5, bad);
    expect(guard.saw(SITE, 0, bad, 5000)).toEqual(none);
    expect(guard.saw(SITE, 9, good, 6000)).toEqual({ kind: 'site_up' });
    expect([guard.isDown(SITE), guard.guarded().length]).toEqual([false, 0]);
    expect(guard.admit(SITE, 6000)).toEqual({ kind: 'open' });
    guard.canaryEnded(SITE, 6001);
    expect(show(guard, 4, bad, 70_000)).toEqual(none);
  });
});

describe('a rule that fires on everything', () => {
  it('B01 is suspended, at this site only, and the site stays open', () => {
    const guard = new SiteGuard(rules);
    expect(show(guard, 5, fired)).toEqual({
      ...{ kind: 'rule_suspended', rule: 'rule captcha' },
      ...{ sinceMs: -56_000, exits: 5 },
    });
    expect(guard.isSuspended(SITE, 'rule captcha', 4000)).toBe(true);
    expect(guard.isSuspended(SITE, 'rule other', 4000)).toBe(false);
    expect(guard.isSuspended('other.example', 'rule captcha', 4000)).toBe(false);
    expect(guard.admit(SITE, 4000)).toEqual({ kind: 'open' });
  });

  it('is right where there are good pages in between', () => {
    const guard = new SiteGuard(rules);
    guard.saw(SITE, 9, good, 0);
    for (let n = 1; n < 100; n++) expect(guard.saw(SITE, n % 8, fired, n)).toEqual(none);
  });

  it('is not one rule where the failures are of many kinds', () => {
    const guard = new SiteGuard(rules);
    show(guard, 2, fired);
    guard.saw(SITE, 2, { kind: 'bad', rule: 'rule other' }, 3000);
    guard.saw(SITE, 3, bad, 3000);
    expect(guard.saw(SITE, 4, bad, 3000).kind).toBe('site_down');
  });

  it('comes back when enough answers are good again', () => {
    const guard = new SiteGuard(rules);
    show(guard, 5, fired);
    expect(guard.saw(SITE, 0, good, 5000)).toEqual(none);
    expect(guard.saw(SITE, 1, good, 5001)).toEqual({ kind: 'rule_resumed', rule: 'rule captcha' });
    expect(guard.isSuspended(SITE, 'rule captcha', 5002)).toBe(false);
  });

  it('comes back when its time is over', () => {
    const guard = new SiteGuard(rules);
    show(guard, 5, fired);
    expect(guard.isSuspended(SITE, 'rule captcha', 604_000)).toBe(false);
    expect(guard.saw(SITE, 0, fired, 604_000)).toEqual({ kind: 'rule_resumed', rule: 'rule captcha' });
  });
});

describe('the guard', () => {
  it('does nothing when it is switched off, and forgets', () => {
    const guard = new SiteGuard(rules);
    show(guard, 5, bad);
    guard.configure({ ...rules, isOn: false });
    expect([guard.isDown(SITE), show(guard, 20, bad).kind]).toEqual([false, 'none']);
    guard.configure(rules);
    expect(show(guard, 5, bad).kind).toBe('site_down');
  });

  it('is bounded in sites and exits', () => {
    const guard = new SiteGuard({ ...rules, exits: 64, windowMs: Infinity });
    for (let n = 0; n < 63; n++) guard.saw('first.example', n, bad, n);
    for (let n = 0; n < 10_000; n++) guard.saw(`site-${n}.example`, 0, good, n);
    expect(guard.saw('first.example', 63, bad, 1)).toEqual(none);
    const many = new SiteGuard({ ...rules, exits: 65 });
    expect(show(many, 500, bad, 0)).toEqual(none);
  });
});

/** Keeps every sighting and works all out anew each time. */
class Model {
  private readonly all: { exit: number; sighting: Sighting; atMs: number }[] = [];
  private state: { kind: string; rule: string | null; sinceMs: number } = {
    kind: 'watched',
    rule: null,
    sinceMs: 0,
  };
  private lastGoodMs = -Infinity;
  private next = 0;
  private begin = 0;

  admit(nowMs: number): string {
    if (this.state.kind !== 'down') return 'open';
    if (nowMs < this.next) return 'closed';
    this.next = nowMs + CANARY_LAPSE_MS;
    return 'canary';
  }

  ended(nowMs: number): void {
    this.next = nowMs + rules.canaryMs;
  }

  saw(exit: number, sighting: Sighting, nowMs: number): string {
    this.all.push({ exit, sighting, atMs: nowMs });
    if (sighting.kind === 'good') this.lastGoodMs = nowMs;
    if (this.state.kind === 'down') return sighting.kind === 'good' ? this.reset('site_up') : 'none';
    if (this.state.kind === 'suspended') {
      const isEased = this.lastGoodMs >= this.state.sinceMs && this.share() < rules.share;
      const isOver = nowMs - this.state.sinceMs >= rules.suspendMs;
      return isEased || isOver ? this.reset('rule_resumed') : 'none';
    }
    return sighting.kind === 'bad' ? this.judge(nowMs) : 'none';
  }

  private get run() {
    return this.all.slice(this.begin);
  }

  private share(): number {
    const last = this.run.slice(-RECENT_TRIES);
    return last.filter(({ sighting }) => sighting.kind === 'bad').length / last.length;
  }

  private reset(change: string): string {
    this.begin = this.all.length;
    this.state = { kind: 'watched', rule: null, sinceMs: 0 };
    return change;
  }

  private judge(nowMs: number): string {
    const last = new Map(this.run.map((each) => [each.exit, each]));
    const failed = [...last.values()].filter(
      ({ sighting, atMs }) => sighting.kind === 'bad' && atMs >= nowMs - rules.windowMs,
    );
    if (failed.length < rules.exits) return 'none';
    const hasGood = this.lastGoodMs >= nowMs - rules.windowMs;
    if (hasGood && (this.run.length < RECENT_TRIES || this.share() < rules.share)) return 'none';
    const names = failed.flatMap(({ sighting }) =>
      sighting.kind === 'bad' && sighting.rule !== null ? [sighting.rule] : [],
    );
    const rule = [...new Set(names)].find(
      (name) => names.filter((each) => each === name).length >= failed.length * rules.share,
    );
    if (rule !== undefined && hasGood) return 'none';
    this.state = { kind: rule === undefined ? 'down' : 'suspended', rule: rule ?? null, sinceMs: nowMs };
    this.next = nowMs + rules.canaryMs;
    return rule === undefined ? 'site_down' : 'rule_suspended';
  }
}

const sightings = {
  sighting: fc.constantFrom<Sighting>(bad, bad, fired, fired, good),
  waitMs: fc.constantFrom(0, 0, 10, 1000, 5000, 30_000, 700_000),
};
const step = fc.record({
  what: fc.constantFrom('saw', 'saw', 'saw', 'saw', 'admit', 'ended'),
  exit: fc.nat(7),
  ...sightings,
});

describe('G8 the site guard equals the model', () => {
  it('over 10,000 random sequences of events', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const guard = new SiteGuard(rules);
        const model = new Model();
        let nowMs = 0;
        for (const { what, exit, sighting, waitMs } of steps) {
          nowMs += waitMs;
          if (what === 'admit') expect(guard.admit(SITE, nowMs).kind).toBe(model.admit(nowMs));
          else if (what === 'ended') {
            guard.canaryEnded(SITE, nowMs);
            model.ended(nowMs);
          } else {
            const { kind } = guard.saw(SITE, exit, sighting, nowMs);
            expect(kind).toBe(model.saw(exit, sighting, nowMs));
            seen.add(kind);
          }
        }
      }),
      { numRuns: 10_000 },
    );
    expect([...seen].sort()).toEqual(['none', 'rule_resumed', 'rule_suspended', 'site_down', 'site_up']);
  });
});

describe('B04 a site that fails at every exit', () => {
  it('is no sign against one of them: as a model says that keeps every sighting', () => {
    const seen = new Set<boolean>();
    // Fewer exits than it takes for a site to be down, so that only the sightings count.
    const some = fc.record({ ...sightings, exit: fc.nat(rules.exits - 2) });
    fc.assert(
      fc.property(fc.array(some, { maxLength: 30 }), (steps) => {
        const guard = new SiteGuard(rules);
        const told: { exit: number; isGood: boolean; atMs: number }[] = [];
        let nowMs = 0;
        for (const { exit, sighting, waitMs } of steps) {
          nowMs += waitMs;
          guard.saw(SITE, exit, sighting, nowMs);
          told.push({ exit, isGood: sighting.kind === 'good', atMs: nowMs });
          const late = told.filter(({ atMs }) => atMs >= nowMs - rules.windowMs);
          const failed = new Set(late.map((one) => one.exit));
          const isFailingAll = late.every(({ isGood }) => !isGood) && failed.size >= 2;
          expect(guard.isFailingAll(SITE, nowMs)).toBe(isFailingAll);
          seen.add(isFailingAll);
        }
        expect(guard.isFailingAll('other.example', nowMs)).toBe(false);
      }),
    );
    expect(seen.size).toBe(2);
  });
});
