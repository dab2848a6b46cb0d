/**
 * Time, as an argument. Everything that measures, waits or expires takes a `Clock`; tests hand in a fake one.
 * Monotonic milliseconds serve every deadline and duration, wall-clock milliseconds only logs and people.
 */

/** A wait that can be called off. */
export interface Timer {
  cancel(): void;
}

/** Where time comes from. */
export interface Clock {
  /** Milliseconds since an arbitrary start; never goes back. */
  nowMs(): number;
  /** Milliseconds since 1970, for logs and for dates that people read. */
  wallMs(): number;
  /** Calls `fn` once, after `ms` milliseconds at the earliest. The wait doesn't keep the process alive. */
  after(ms: number, fn: () => void): Timer;
}

/** The machine's clock. */
export const systemClock: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(ms, fn) {
    const handle = setTimeout(fn, ms).unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Calls `fn` once everything that is ready now has been seen to: at the end of this turn of the event loop. */
export const afterTurn = (fn: () => void): void => void setImmediate(fn);
