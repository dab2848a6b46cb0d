import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TimerWheel } from '../../src/core/timer-wheel.js';
import { FakeClock } from '../support/fake-clock.js';

const TICK_MS = 50;

function rig() {
  const clock = new FakeClock();
  return { clock, wheel: new TimerWheel(clock) };
}

describe('the timer wheel', () => {
  it('fires once, not before its time and at most a tick after', () => {
    const { clock, wheel } = rig();
    const fired: number[] = [];
    const armedMs = clock.nowMs();
    for (const ms of [1, 60, 150, 999, 5_000, 30_000, 100_000]) wheel.arm(ms, () => fired.push(ms));
    for (const ms of [1, 60, 150, 999, 5_000, 30_000, 100_000]) {
      clock.advance(Math.max(0, armedMs + ms - 1 - clock.nowMs()));
      expect(fired).not.toContain(ms);
      clock.advance(TICK_MS + 1);
      expect(fired).toContain(ms);
    }
    clock.advance(300_000);
    expect(fired).toHaveLength(7);
  });

  it('does not fire what was cancelled or suspended, and lets go of it', () => {
    const { clock, wheel } = rig();
    let fired = 0;
    wheel.arm(100, () => fired++).cancel();
    expect(wheel.size).toBe(0);
    wheel.arm(100, () => fired++).suspend();
    expect(wheel.size).toBe(1);
    clock.advance(1000);
    expect(fired).toBe(0);
    expect(wheel.size).toBe(0);
  });

  it('moves a deadline that is restarted, later and earlier', () => {
    const { clock, wheel } = rig();
    let fired = 0;
    const deadline = wheel.arm(1000, () => fired++);
    clock.advance(900);
    deadline.restart(1000);
    clock.advance(900);
    expect(fired).toBe(0);
    deadline.restart(60);
    clock.advance(60 + TICK_MS);
    expect(fired).toBe(1);
    deadline.restart(100);
    clock.advance(100 + TICK_MS);
    expect(fired).toBe(2);
  });

  it('stands still while nothing is armed', () => {
    const { clock, wheel } = rig();
    wheel.idle(() => undefined);
    expect(clock.pending).toBe(0);
    wheel.arm(10, () => undefined);
    expect(clock.pending).toBe(1);
    clock.advance(200);
    expect(clock.pending).toBe(0);
    expect(wheel.size).toBe(0);
  });

  it('goes on when the process was asleep for long', () => {
    const { clock, wheel } = rig();
    const fired: number[] = [];
    for (const ms of [100, 5_000, 60_000]) wheel.arm(ms, () => fired.push(ms));
    clock.advance(10_000_000);
    expect(fired).toEqual([100, 5_000, 60_000]);
  });

  it('equals a list of deadlines, whatever is done', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('arm' as const), ms: fc.integer({ min: 0, max: 60_000 }) }),
      fc.record({
        do: fc.constant('restart' as const),
        at: fc.nat(20),
        ms: fc.integer({ min: 0, max: 60_000 }),
      }),
      fc.record({ do: fc.constantFrom('cancel' as const, 'suspend' as const), at: fc.nat(20) }),
      fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 40_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => runAgainstModel(steps)),
      { seed: 7, numRuns: 300 },
    );
  });
});

type Step =
  | { do: 'arm'; ms: number }
  | { do: 'restart'; at: number; ms: number }
  | { do: 'cancel' | 'suspend'; at: number }
  | { do: 'advance'; ms: number };

function runAgainstModel(steps: readonly Step[]): void {
  const { clock, wheel } = rig();
  const model: { dueMs: number; deadline: ReturnType<TimerWheel['arm']> }[] = [];
  const fire = (entry: { dueMs: number }) => (): void => {
    expect(clock.nowMs()).toBeGreaterThanOrEqual(entry.dueMs);
    entry.dueMs = Infinity;
  };
  for (const step of steps) {
    if (step.do === 'advance') clock.advance(step.ms);
    else if (step.do === 'arm') {
      const entry = { dueMs: clock.nowMs() + step.ms, deadline: wheel.idle(() => undefined) };
      entry.deadline = wheel.arm(step.ms, fire(entry));
      model.push(entry);
    } else {
      const entry = model[step.at];
      if (entry === undefined) continue;
      entry.dueMs = step.do === 'restart' ? clock.nowMs() + step.ms : Infinity;
      if (step.do === 'restart') entry.deadline.restart(step.ms);
      else entry.deadline[step.do]();
    }
    for (const { dueMs } of model) expect(dueMs).toBeGreaterThan(clock.nowMs() - TICK_MS - 1);
  }
}
