/** One emitter for many listeners. */
import type { Emit, TurnpikeEvent } from '../core/events.js';

/** Hears every event. */
export type Subscriber = (event: TurnpikeEvent) => void;

/**
 * An `Emit` that tells all subscribers in order. A subscriber that throws is passed over: whoever emits is in the
 * middle of a request, and a fault of the log must not become one of the request. `onFault` hears of it.
 */
export function createEmit(
  subscribers: readonly Subscriber[],
  onFault: (error: unknown) => void = () => undefined,
): Emit {
  return (event) => {
    for (const subscriber of subscribers) {
      try {
        subscriber(event);
      } catch (error) {
        onFault(error);
      }
    }
  };
}
