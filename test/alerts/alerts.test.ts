import { describe, expect, it } from 'vitest';
import { Alerts } from '../../src/alerts/alerts.js';
import type { PolicySupply } from '../../src/credentials/policy-desk.js';
import type { AlertRaised } from '../../src/core/alert-events.js';
import type { TurnpikeEvent } from '../../src/core/events.js';
import { seededRandom } from '../../src/core/random.js';
import { FakeClock } from '../support/fake-clock.js';

interface Bench {
  readonly alerts: Alerts;
  readonly clock: FakeClock;
  /** `kind subject state`, in order. */
  readonly said: string[];
  readonly raised: AlertRaised[];
}

function bench(): Bench {
  const clock = new FakeClock();
  const said: string[] = [];
  const raised: AlertRaised[] = [];
  const emit = (alert: AlertRaised): void => {
    raised.push(alert);
    said.push([alert.kind, alert.subject, alert.state].filter((each) => each !== '').join(' '));
  };
  return {
    alerts: new Alerts({ clock, random: seededRandom(1), emit, minActive: () => 20 }),
    clock,
    said,
    raised,
  };
}

const supply = (usable: number, changes: Partial<PolicySupply> = {}): PolicySupply => ({
  ...{ policy: 'shop', usable, total: 100, minActive: null, ratePercent: null, ...changes },
});

describe('credentials of a policy', () => {
  it('K13 are told of once when too few are usable, and again only after there were clearly enough', () => {
    const { alerts, said, raised } = bench();
    for (const usable of [50, 20, 19, 10, 18, 22, 19, 24, 25, 20, 19]) alerts.look([supply(usable)]);
    expect(said).toEqual([
      ...['credentials_low shop raised', 'credentials_low shop cleared', 'credentials_low shop raised'],
    ]);
    expect(raised[0]).toMatchObject({ clears: null, detail: { usable: 19, total: 100, minActive: 20 } });
    expect(raised[1]).toMatchObject({ clears: raised[0]?.id });
    expect(new Set(raised.map(({ id }) => id)).size).toBe(3);
  });

  it('count as the policy says where it does; one with none at all is no alert, one that is gone is cleared', () => {
    const { alerts, said } = bench();
    alerts.look([supply(85, { minActive: 90 }), supply(0, { policy: 'empty', total: 0 })]);
    expect(alerts.raised().map(({ subject }) => subject)).toEqual(['shop']);
    alerts.look([supply(94, { minActive: 100 })]);
    alerts.look([supply(100, { minActive: 100 })]);
    alerts.look([supply(1)]);
    alerts.look([]);
    expect(said.map((each) => each.split(' ')[2])).toEqual(['raised', 'cleared', 'raised', 'cleared']);
    expect(alerts.raised()).toEqual([]);
  });

  it('are told of where a policy asks more than 60 % of what they bear', () => {
    const { alerts, said } = bench();
    for (const ratePercent of [60, 60.5, 80, 60, null]) alerts.look([supply(50, { ratePercent })]);
    expect(said).toEqual(['policy_rate shop raised', 'policy_rate shop cleared']);
  });
});

describe('what happens', () => {
  const sealed = { type: 'vault_changed', state: 'sealed', why: 'the root key is wrong' } as const;
  const opened = { type: 'vault_changed', state: 'open', why: null } as const;
  const sink = (state: 'failing' | 'working'): TurnpikeEvent => ({
    ...{ type: 'audit_sink_turned', sink: 'file', state, reason: 'ENOSPC' },
  });

  it('K13 is told of once while it lasts, and cleared when it has been well for half a minute', () => {
    const { alerts, clock, said, raised } = bench();
    alerts.subscribe(opened);
    for (const each of [sealed, sealed, opened, sealed, opened]) alerts.subscribe(each);
    expect(said).toEqual(['vault_sealed raised']);
    clock.advance(29_000);
    alerts.subscribe(sealed);
    clock.advance(60_000);
    expect(said).toHaveLength(1);
    alerts.subscribe(opened);
    alerts.subscribe(opened);
    clock.advance(31_000);
    expect(said).toEqual(['vault_sealed raised', 'vault_sealed cleared']);
    expect(raised[0]?.message).toContain('the root key is wrong');
    alerts.subscribe({ type: 'vault_changed', state: 'sealed', why: null });
    alerts.subscribe(opened);
    alerts.close();
    expect(clock.pending).toBe(0);
  });

  it('K13 names the sink of the audit, its disk, and when nothing is recorded at all', () => {
    const { alerts, clock, said } = bench();
    const refused = (reason: 'late' | 'sealed'): void =>
      alerts.subscribe({ type: 'audit_refused', action: 'token.redeem', reason });
    alerts.subscribe(sink('failing'));
    refused('sealed');
    for (let n = 0; n < 40; n++) {
      refused('late');
      clock.advance(1000);
    }
    alerts.subscribe(sink('working'));
    const disk = { type: 'audit_disk_turned', disk: 'file', usedPercent: 91 } as const;
    alerts.subscribe({ ...disk, state: 'nearly_full' });
    alerts.subscribe({ ...disk, state: 'roomy' });
    clock.advance(31_000);
    expect(said).toEqual([
      ...['audit_failing file raised', 'audit_failing all raised', 'audit_disk file raised'],
      ...['audit_failing all cleared', 'audit_failing file cleared', 'audit_disk file cleared'],
    ]);
  });

  it('K13 tells of a worn key until it is retired', () => {
    const { alerts, said } = bench();
    alerts.subscribe({ type: 'key_worn', term: 3, wraps: 2 ** 28 });
    alerts.subscribe({ type: 'key_changed', term: 4, state: 'primary' });
    alerts.subscribe({ type: 'key_changed', term: 3, state: 'retired' });
    expect(said).toEqual(['key_worn term 3 raised', 'key_worn term 3 cleared']);
  });

  it('K9 K13 tells of a leaked token, of one credential once a minute', () => {
    const { alerts, clock, said } = bench();
    const leak = (credential: string): void =>
      alerts.subscribe({ type: 'token_leaked', token: 'a1b2', credential, policy: 'shop', addresses: 2 });
    leak('anna');
    leak('anna');
    leak('bert');
    clock.advance(60_000);
    leak('anna');
    expect(said).toEqual([
      ...['token_leaked anna raised', 'token_leaked bert raised', 'token_leaked anna raised'],
    ]);
    for (let n = 0; n < 1100; n++) leak(`c${n}`);
    expect(alerts.raised()).toEqual([]);
    alerts.subscribe({ type: 'client_connected', listener: 'x' });
  });
});
