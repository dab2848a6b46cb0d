/** How many exits of each pool are in which state, for the metrics. */
import type { Pool } from '../upstreams/pool.js';
import type { Ledger } from './ledger.js';

/** Where an exit stands: what an operator ordered comes before what happened to it. */
export type ExitState = 'available' | 'out' | 'frozen' | 'draining';

/** A number of exits of one pool in one state. */
export interface ExitCount {
  readonly pool: string;
  readonly state: ExitState;
  readonly count: number;
}

/** All states. */
export const exitStates: readonly ExitState[] = ['available', 'out', 'frozen', 'draining'];

/** No site has this name, so that only what holds for all sites counts. */
const NO_SITE = '';

/** The state of one exit: `out` is one that is set aside altogether. */
export function exitStateOf(ledger: Ledger, slot: number, nowMs: number): ExitState {
  return ledger.orders.of(slot) ?? (ledger.isUsable(slot, NO_SITE, nowMs) ? 'available' : 'out');
}

/** Counts exits per pool and state. */
export function countExits(pools: ReadonlyMap<string, Pool>, ledger: Ledger, nowMs: number): ExitCount[] {
  return [...pools].flatMap(([pool, { slots }]) => {
    const counts = { available: 0, out: 0, frozen: 0, draining: 0 };
    for (const slot of slots) counts[exitStateOf(ledger, slot, nowMs)]++;
    return exitStates.map((state) => ({ pool, state, count: counts[state] }));
  });
}
