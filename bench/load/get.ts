/**
 * Closed loop of GETs: each connection sends its next request when the last answer was complete.
 */
import type { GetJob } from '../support/job.js';
import { GetConnection } from './get-connection.js';
import type { Meter } from './meter.js';

/** One endless user of the gateway; ends when the meter says so. */
export function getLoop(job: GetJob, slot: number, meter: Meter): Promise<void> {
  return new Promise((resolve) => {
    let startMs = 0;
    const next = (): void => {
      if (meter.isOver) {
        connection.close();
        resolve();
        return;
      }
      startMs = performance.now();
      connection.send();
    };
    const connection = new GetConnection(job, slot, {
      reconnected: () => meter.reconnected(),
      finished: (fault) => {
        if (fault === undefined) meter.add(1, performance.now() - startMs);
        else meter.fail(fault);
        next();
      },
    });
    next();
  });
}
