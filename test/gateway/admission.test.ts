import { describe, expect, it } from 'vitest';
import { Admission } from '../../src/gateway/admission.js';
import type { Limits } from '../../src/routing/runtime.js';

/** An admission with these limits, and the means to end a turn and to open relays. */
function admission(limits: Partial<Limits>) {
  const turns: (() => void)[] = [];
  const state = { relays: 0 };
  const all = { exchanges: Infinity, waiting: Infinity, loopDelayMs: 100, ...limits } as Limits;
  return {
    state,
    turns,
    nextTurn: () => turns.splice(0).forEach((end) => end()),
    admission: new Admission({
      limits: () => all,
      relays: () => state.relays,
      afterTurn: (callback) => void turns.push(callback),
    }),
  };
}

describe('exchanges', () => {
  it('are admitted up to the limit, and again when one has ended', () => {
    const { admission: door } = admission({ exchanges: 2 });
    for (let n = 0; n < 2; n++) {
      expect(door.refusal(0)).toBe(null);
      door.begin();
    }
    expect(door.refusal(0)).toMatchObject({ code: 'overloaded', retryAfterMs: 1000 });
    door.end();
    expect(door.refusal(0)).toBe(null);
  });

  it('that became relays do not count', () => {
    const { admission: door, state } = admission({ exchanges: 1 });
    door.begin();
    state.relays = 1;
    expect(door.refusal(0)).toBe(null);
  });
});

describe('a turn of the loop', () => {
  it('refuses what has waited too long in it, and nothing of the next', () => {
    const { admission: door, nextTurn, turns } = admission({});
    expect(door.refusal(1000)).toBe(null);
    expect(door.refusal(1100)).toBe(null);
    expect(door.refusal(1101)).toMatchObject({ code: 'overloaded', detail: 'limits.loop_delay is reached.' });
    expect(turns.length).toBe(1);
    nextTurn();
    expect(door.refusal(5000)).toBe(null);
    expect(turns.length).toBe(1);
  });
});

describe('waiting for an exit', () => {
  it('is for so many at once', () => {
    const { admission: door } = admission({ waiting: 1 });
    expect(door.mayWait()).toBe(true);
    door.waits(1);
    expect(door.mayWait()).toBe(false);
    door.waits(-1);
    expect(door.mayWait()).toBe(true);
  });
});
