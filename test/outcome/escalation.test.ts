import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Escalation,
  type EscalationRules,
  type Tier,
  type TierChoice,
} from '../../src/outcome/escalation.js';

const rules: EscalationRules = { blockRate: 0.3, windowMs: 60_000, least: 10, canary: 0.1 };
const tiers: readonly Tier[] = [
  { name: 'cheap', isAffordable: true },
  { name: 'dear', isAffordable: true },
];
const broke: readonly Tier[] = [
  { name: 'cheap', isAffordable: true },
  { name: 'dear', isAffordable: false },
];

/** So many exchanges, each blocked where the test says; what was chosen. */
function serve(
  escalation: Escalation,
  count: number,
  isBlocked: (tier: number, n: number) => boolean,
  by: { tiers?: readonly Tier[]; fromMs?: number } = {},
): TierChoice[] {
  return Array.from({ length: count }, (_, n) => {
    const nowMs = (by.fromMs ?? 0) + n * 10;
    const choice = escalation.choose(by.tiers ?? tiers, rules, { nowMs, mayProbe: true });
    if (choice.tier >= 0) escalation.record(choice.tier, isBlocked(choice.tier, n), { nowMs, rules });
    return choice;
  });
}

const cheapBlocked = (tier: number): boolean => tier === 0;

describe('N9 escalation by cost', () => {
  it('stays with the cheap pool while its share of blocks is acceptable', () => {
    const choices = serve(new Escalation(), 200, (_, n) => n % 5 === 0);
    expect(new Set(choices.map(({ tier }) => tier))).toEqual(new Set([0]));
    expect(choices[0]?.why).toBe('the first pool of the route');
  });

  it('goes to the dear pool when the cheap one is blocked, and says why', () => {
    const choices = serve(new Escalation(), 40, cheapBlocked);
    const step = choices.find(({ moved }) => moved !== undefined);
    expect(step).toMatchObject({ tier: 1, moved: { from: 'cheap', to: 'dear' } });
    expect(step?.why).toBe('cheap is blocked: 100 % of 10 tries blocked');
    expect(choices.findIndex(({ moved }) => moved !== undefined)).toBe(10);
  });

  it('a few blocks are no share', () => {
    expect(serve(new Escalation(), 9, cheapBlocked).every(({ tier }) => tier === 0)).toBe(true);
  });

  it('sends canaries, and comes back when the cheap pool works again', () => {
    const escalation = new Escalation();
    serve(escalation, 100, cheapBlocked);
    const later = serve(escalation, 200, () => false, { fromMs: 1000 });
    const canaries = later.filter(({ why }) => why.startsWith('canary'));
    expect(canaries[0]).toMatchObject({ tier: 0, why: 'canary: does cheap work again?' });
    const back = later.find(({ moved }) => moved !== undefined);
    expect(back).toMatchObject({ tier: 0, moved: { from: 'dear', to: 'cheap' } });
    expect(back?.why).toMatch(/^cheap works again: \d+ % of \d+ tries blocked$/);
    expect(canaries.length).toBeLessThan(20);
    expect(escalation.tier).toBe(0);
  });

  it('canaries that are blocked keep it up: a tenth of the requests, no more', () => {
    const choices = serve(new Escalation(), 1010, cheapBlocked).slice(10);
    expect(choices.filter(({ tier }) => tier === 0).length).toBeLessThanOrEqual(101);
    expect(choices.filter(({ moved }) => moved !== undefined)).toHaveLength(1);
  });

  it('half a recovery is none', () => {
    const escalation = new Escalation();
    serve(escalation, 20, cheapBlocked);
    serve(escalation, 1000, (tier, n) => tier === 0 && n % 20 < 10, { fromMs: 1000 });
    expect(escalation.tier).toBe(1);
  });

  it('a pool without budget is passed over: the cheaper one serves, and it is said', () => {
    const escalation = new Escalation();
    serve(escalation, 20, cheapBlocked);
    const choice = escalation.choose(broke, rules, { nowMs: 1000, mayProbe: true });
    expect(choice.tier).toBe(0);
    expect(choice.why).toMatch(/^no budget left for dear, which would serve \(cheap is blocked/);
  });

  it('never goes to a dearer pool because a cheaper one has no budget', () => {
    const none = new Escalation().choose(
      [
        { name: 'cheap', isAffordable: false },
        { name: 'dear', isAffordable: true },
      ],
      rules,
      { nowMs: 0, mayProbe: true },
    );
    expect(none).toEqual({ tier: -1, why: 'no budget left for cheap, dear' });
  });

  it('climbs one tier after the other, and the last one serves whatever comes', () => {
    const three = [...tiers, { name: 'dearest', isAffordable: true }];
    const escalation = new Escalation();
    const moves = serve(escalation, 400, () => true, { tiers: three }).flatMap(({ moved }) => moved ?? []);
    expect(moves.map(({ to }) => to)).toEqual(['dear', 'dearest']);
  });

  it('a route that has fewer pools after a reload goes on with the last one', () => {
    const escalation = new Escalation();
    serve(escalation, 20, cheapBlocked);
    expect(
      escalation.choose([{ name: 'cheap', isAffordable: true }], rules, { nowMs: 1000, mayProbe: true }).tier,
    ).toBe(0);
  });

  it('what was seen long ago counts for little', () => {
    const escalation = new Escalation();
    serve(escalation, 9, cheapBlocked);
    expect(escalation.share(0, rules, 60_080).tries).toBeCloseTo(4.5, 1);
  });

  it('whatever comes, an unaffordable tier is never chosen and steps are one tier at a time', () => {
    const step = fc.record({ blocked: fc.boolean(), rich: fc.boolean(), passedMs: fc.nat(5000) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const escalation = new Escalation();
        let nowMs = 0;
        for (const { blocked, rich, passedMs } of steps) {
          const three = [
            ...tiers.slice(0, 1),
            { name: 'dear', isAffordable: rich },
            { name: 'dearest', isAffordable: rich },
          ];
          const before = escalation.tier;
          const { tier } = escalation.choose(three, rules, { nowMs: (nowMs += passedMs), mayProbe: blocked });
          expect(Math.abs(escalation.tier - before)).toBeLessThanOrEqual(1);
          expect(three[tier]?.isAffordable).toBe(true);
          escalation.record(tier, blocked, { nowMs, rules });
        }
      }),
    );
  });
});
