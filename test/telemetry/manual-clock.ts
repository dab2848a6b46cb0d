/** A clock that stands still until it is told to go on. */
import type { Clock } from '../../src/core/clock.js';

/** The clock, and the hand that moves it. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
}

/** A clock at 0, on 2024-01-01. */
export function manualClock(): ManualClock {
  let nowMs = 0;
  const waiting = new Set<{ dueMs: number; fn: () => void }>();
  return {
    nowMs: () => nowMs,
    wallMs: () => 1_704_067_200_000 + nowMs,
    after(ms, fn) {
      const entry = { dueMs: nowMs + ms, fn };
      waiting.add(entry);
      return { cancel: () => void waiting.delete(entry) };
    },
    advance(ms) {
      nowMs += ms;
      for (const entry of [...waiting]) {
        if (entry.dueMs > nowMs) continue;
        waiting.delete(entry);
        entry.fn();
      }
    },
  };
}
