/**
 * When a store counts as away, and as back. Pure: what happened comes in, the new state goes out.
 *
 *            three timeouts in a row, or broken once
 *   closed ─────────────────────────────────────────▶ open     calls are not made; somebody probes
 *          ◀─────────────────────────────────────────
 *                  two good probes in a row
 */

/** `count`: timeouts in a row while closed, good probes in a row while open. */
export interface BreakerState {
  readonly isOpen: boolean;
  readonly count: number;
}

/** What came of a call or a probe. `broken`: the socket is gone, or the store says itself that it can't serve. */
export type StoreOutcome = 'good' | 'timeout' | 'broken';

const TIMEOUTS_TO_OPEN = 3;
const PROBES_TO_CLOSE = 2;
const PROBE_MS = 500;
const PROBE_JITTER = 0.2;

/** Before the first word of the store: one good probe will do. */
export const untried: BreakerState = { isOpen: true, count: PROBES_TO_CLOSE - 1 };

const closed: BreakerState = { isOpen: false, count: 0 };
const open: BreakerState = { isOpen: true, count: 0 };

/** The state after one outcome. */
export function breakerAfter(state: BreakerState, outcome: StoreOutcome): BreakerState {
  if (state.isOpen) {
    if (outcome !== 'good') return open;
    return state.count + 1 >= PROBES_TO_CLOSE ? closed : { isOpen: true, count: state.count + 1 };
  }
  if (outcome === 'good') return state.count === 0 ? state : closed;
  if (outcome === 'broken' || state.count + 1 >= TIMEOUTS_TO_OPEN) return open;
  return { isOpen: false, count: state.count + 1 };
}

/** How long until the next probe: 500 ms, a fifth more or less. @param chance in [0, 1) */
export function probeAfterMs(chance: number): number {
  return PROBE_MS * (1 + PROBE_JITTER * (2 * chance - 1));
}
