/** What the site guard makes of the words of other gateways. */
import { describe, expect, it } from 'vitest';
import { SiteGuard, type GuardRules, type Sighting } from '../../src/outcome/site-guard.js';

const SITE = 'shop.example';
const times = { windowMs: 60_000, canaryMs: 5000, suspendMs: 600_000 };
const rules: GuardRules = { isOn: true, exits: 5, share: 0.8, ...times };
const good: Sighting = { kind: 'good' };
const bad: Sighting = { kind: 'bad', rule: null };
const none = { kind: 'none' };

describe('S7 what another gateway says of a site', () => {
  const down = { kind: 'down', ageMs: 1000 } as const;
  const wrong = { kind: 'suspended', rule: 'rule captcha', ageMs: 1000 } as const;

  it('that it is down is believed, with the bans of that time taken back, and its canary waits', () => {
    const guard = new SiteGuard(rules);
    expect(guard.heard(SITE, down, 100_000)).toEqual({ kind: 'site_down', sinceMs: 39_000, exits: 0 });
    expect([guard.isDown(SITE), guard.isDown('other.example')]).toEqual([true, false]);
    expect(guard.admit(SITE, 100_000)).toEqual({ kind: 'closed', retryAfterMs: 5000 });
    expect(guard.heard(SITE, down, 101_000)).toEqual(none);
    expect(guard.heard(SITE, wrong, 101_000)).toEqual(none);
    expect(guard.heard(SITE, { kind: 'up' }, 102_000)).toEqual({ kind: 'site_up' });
    expect(guard.heard(SITE, { kind: 'up' }, 102_000)).toEqual(none);
  });

  it('is not believed where it was good a moment ago, until the next failure here', () => {
    const guard = new SiteGuard(rules);
    guard.saw(SITE, 1, good, 99_000);
    expect(guard.heard(SITE, down, 100_000)).toEqual(none);
    expect(guard.admit(SITE, 100_000).kind).toBe('open');
    expect(guard.saw(SITE, 2, bad, 101_000)).toMatchObject({ kind: 'site_down', exits: 1 });
    const other = new SiteGuard(rules);
    other.saw(SITE, 1, good, 99_000);
    other.heard(SITE, down, 100_000);
    other.saw(SITE, 1, good, 100_500);
    expect(other.saw(SITE, 2, bad, 101_000)).toEqual(none);
    other.heard(SITE, down, 101_500);
    other.heard(SITE, { kind: 'up' }, 101_600);
    expect(other.saw(SITE, 2, bad, 101_700)).toEqual(none);
    other.heard(SITE, down, 101_800);
    expect(other.saw(SITE, 2, bad, 161_800)).toEqual(none);
  });

  it('that a rule fires on everything is believed where nothing was good here of late', () => {
    const guard = new SiteGuard(rules);
    expect(guard.heard(SITE, wrong, 100_000)).toEqual({
      ...{ kind: 'rule_suspended', rule: 'rule captcha', sinceMs: 39_000, exits: 0 },
    });
    expect(guard.isSuspended(SITE, 'rule captcha', 100_000)).toBe(true);
    expect(guard.heard(SITE, { kind: 'up' }, 101_000)).toEqual(none);
    const resumed = { kind: 'rule_resumed', rule: 'rule captcha' };
    expect(guard.heard(SITE, { kind: 'resumed' }, 101_000)).toEqual(resumed);
    guard.saw(SITE, 1, good, 102_000);
    expect(guard.heard(SITE, wrong, 150_000)).toEqual(none);
    expect(guard.saw(SITE, 2, bad, 151_000)).toEqual(none);
    expect(guard.heard('never.seen.example', { kind: 'resumed' }, 1)).toEqual(none);
  });

  it('counts for nothing where sites are not watched', () => {
    expect(new SiteGuard({ ...rules, isOn: false }).heard(SITE, down, 0)).toEqual(none);
  });

  it('that it has the canary is waited for', () => {
    const guard = new SiteGuard(rules);
    guard.canaryElsewhere(SITE, 1);
    guard.heard(SITE, down, 0);
    expect(guard.admit(SITE, 5000)).toEqual({ kind: 'canary' });
    guard.canaryElsewhere(SITE, 7000);
    expect(guard.admit(SITE, 6000)).toEqual({ kind: 'closed', retryAfterMs: 1000 });
    expect(guard.admit(SITE, 7000)).toEqual({ kind: 'canary' });
  });
});
