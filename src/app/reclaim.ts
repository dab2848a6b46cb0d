/**
 * Gives memory back after a crowd has left. V8 collects when it allocates, so a gateway that had thousands of
 * connections and now has few would keep their garbage for hours. Decides when a collection is worth its pause (some
 * ten milliseconds, with little left to do); must not know what the connections were for.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Clock } from '../core/clock.js';
import type { TurnpikeEvent } from '../core/events.js';

/** Fewer than this leave too little behind. */
const LEAST_LEFT = 500;
/** The crowd may be on its way still, or come back at once. */
const QUIET_MS = 2000;

/** Counts connections of clients by their events; needs no `this`. */
export class Reclaim {
  private open = 0;
  /** The most since the last collection. */
  private most = 0;
  private isPlanned = false;

  /** @param collect frees what nobody holds */
  constructor(
    private readonly clock: Pick<Clock, 'after'>,
    private readonly collect: () => void = collectNow,
  ) {}

  readonly subscribe = (event: TurnpikeEvent): void => {
    if (event.type === 'client_connected') this.most = Math.max(this.most, ++this.open);
    else if (event.type === 'client_disconnected') {
      this.open--;
      if (!this.isPlanned && this.isWorthIt()) this.plan();
    }
  };

  /** Most of many are gone. */
  private isWorthIt(): boolean {
    return this.most - this.open >= LEAST_LEFT && this.open * 2 <= this.most;
  }

  private plan(): void {
    this.isPlanned = true;
    this.clock.after(QUIET_MS, () => {
      this.isPlanned = false;
      if (!this.isWorthIt()) return;
      this.most = this.open;
      this.collect();
    });
  }
}

/** The only way to ask V8 for a collection without a flag at the start: a fresh context has the function. */
function collectNow(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  collect();
}
