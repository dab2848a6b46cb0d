/** The machine's clock with hours that can be skipped: sockets stay real, and no test waits for a long time to pass. */
import { systemClock, type Clock } from '../../src/core/clock.js';

/** A clock that can be put forward. */
export interface JumpingClock extends Clock {
  /** Puts the clock forward; what is due by then fires with the wheel's next tick. */
  jump(ms: number): void;
}

/** Starts at the machine's time. */
export function jumpingClock(): JumpingClock {
  let skippedMs = 0;
  return {
    nowMs: () => systemClock.nowMs() + skippedMs,
    wallMs: () => systemClock.wallMs() + skippedMs,
    after: (ms, fn) => systemClock.after(ms, fn),
    jump: (ms) => {
      skippedMs += ms;
    },
  };
}
