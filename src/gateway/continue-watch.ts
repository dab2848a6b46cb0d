/**
 * `Expect: 100-continue` (RFC 9110, section 10.1.1): the target's 100 is passed on once. When none comes in time the
 * client gets one from us, so that it does not wait for ever on a target that never says it.
 */
import type { Deadline, TimerWheel } from '../core/timer-wheel.js';
import { Fields } from '../http1/fields.js';
import type { ClientExchange } from './exchange.js';

/** How long the target has to say 100 before we do. */
const CONTINUE_MS = 1000;

/** Sees to it that the client gets exactly one 100, or a final answer instead. */
export class ContinueWatch {
  private readonly deadline: Deadline;
  private isSaid = false;

  constructor(wheel: TimerWheel, exchange: ClientExchange) {
    this.deadline = wheel.idle(() => {
      if (!this.mayPass() || exchange.bytesIn > 0) return;
      exchange.interim({ status: 100, reason: 'Continue', minor: 1, fields: Fields.empty(), tolerated: [] });
    });
  }

  /** A request was sent and its 100 is awaited. */
  start(): void {
    if (!this.isSaid) this.deadline.restart(CONTINUE_MS);
  }

  stop(): void {
    this.deadline.cancel();
  }

  /** Whether a 100 may go to the client; true once. */
  mayPass(): boolean {
    if (this.isSaid) return false;
    this.isSaid = true;
    return true;
  }
}
