/**
 * Open loop of GETs: one every 1/rate seconds whatever the gateway does. Latency counts from the moment a request was
 * meant to start, so that a gateway which stalls is charged for all that had to wait (no coordinated omission).
 */
import type { PacedJob } from '../support/job.js';
import { GetConnection } from './get-connection.js';
import type { Meter } from './meter.js';

/** Timers are a millisecond coarse: the last stretch is spent turning the event loop instead. */
const SPIN_MS = 1.5;

/** Runs the whole schedule; resolves when the meter is over and every answer came. */
export function pacedLoop(job: PacedJob, meter: Meter): Promise<void> {
  const { promise, resolve } = withResolver();
  const waiting: number[] = [];
  const free: ((intendedMs: number) => void)[] = [];
  let underWay = 0;

  const startNext = (): void => {
    while (waiting.length > 0 && free.length > 0) free.pop()?.(waiting.shift() ?? 0);
    if (meter.isOver && underWay === 0) resolve();
  };
  for (let slot = 0; slot < job.connections; slot++) {
    let intendedMs = 0;
    const connection = new GetConnection(job, slot, {
      reconnected: () => meter.reconnected(),
      finished: (fault) => {
        if (fault === undefined) meter.add(1, performance.now() - intendedMs);
        else meter.fail(fault);
        underWay--;
        free.push(use);
        startNext();
      },
    });
    const use = (intended: number): void => {
      intendedMs = intended;
      underWay++;
      connection.send();
    };
    free.unshift(use);
  }
  schedule(1000 / job.perSecond, (intendedMs) => {
    if (!meter.isOver) waiting.push(intendedMs);
    startNext();
    return !meter.isOver;
  });
  return promise;
}

/** Calls `due` with the intended time at every multiple of `everyMs` from now, as long as it returns true. */
function schedule(everyMs: number, due: (intendedMs: number) => boolean): void {
  let intendedMs = performance.now() + everyMs;
  const turn = (): void => {
    const leftMs = intendedMs - performance.now();
    if (leftMs > SPIN_MS) {
      setTimeout(turn, leftMs - SPIN_MS);
    } else if (leftMs > 0) {
      setImmediate(turn);
    } else {
      const goesOn = due(intendedMs);
      intendedMs += everyMs;
      if (goesOn) setImmediate(turn);
    }
  };
  turn();
}

function withResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
