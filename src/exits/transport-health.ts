/**
 * When faults on the way count as the exit's own, and how many of them take it out. Values only.
 */
import { noBan } from '../facts/ban.js';
import type { BanState, TransportFault } from '../facts/ban.js';

/** An exit whose way had faults; all counts are since the last success. */
export interface Health {
  readonly ban: BanState;
  readonly faults: number;
  /** Those among them that can't be the site's. */
  readonly ownFaults: number;
  /** Whether they came with more than one site. */
  readonly manySites: boolean;
  /** Site of the last one. */
  readonly site: string | null;
}

/** An exit without faults. */
export const sound: Health = { ban: noBan, faults: 0, ownFaults: 0, manySites: false, site: null };

/** A fault, and what the ledger knows besides. */
export interface FaultContext {
  readonly fault: TransportFault;
  readonly site: string | null;
  /** Whether this exit ever brought an answer. */
  readonly hasWorked: boolean;
}

/** How many in a row take an exit out. */
interface Limit {
  /** Whether only faults count that can't be the site's. */
  readonly isOwn: boolean;
  /** As long as all of them came with one site. */
  readonly oneSite: number;
  readonly manySites: number;
}

const atOnce: Limit = { isOwn: true, oneSite: 1, manySites: 1 };
const second: Limit = { isOwn: true, oneSite: 2, manySites: 2 };
/** May be the site's fault as well. */
const doubtful: Limit = { isOwn: false, oneSite: 5, manySites: 2 };
/** Most likely the site's, unless several sites have it and nothing works in between. */
const weak: Limit = { isOwn: false, oneSite: Infinity, manySites: 4 };

const limits: Readonly<Record<TransportFault, Limit>> = {
  refused: atOnce,
  auth: atOnce,
  unreachable: second,
  timeout: second,
  dns: second,
  tls: second,
  closed: second,
  reset: second,
  protocol: second,
  error: second,
  silent: doubtful,
  unclear: weak,
};

/** A login that was good before is refused: perhaps it is the site that asks for one. */
function limitOf(context: FaultContext): Limit {
  return context.fault === 'auth' && context.hasWorked ? doubtful : limits[context.fault];
}

/** The faults so far with one more. */
export function withFault(health: Health, context: FaultContext): Health {
  const isOther = health.site !== null && context.site !== null && context.site !== health.site;
  return {
    ban: health.ban,
    faults: health.faults + 1,
    ownFaults: health.ownFaults + (limitOf(context).isOwn ? 1 : 0),
    manySites: health.manySites || isOther,
    site: context.site ?? health.site,
  };
}

/** The site that all faults so far may be the fault of; null where the exit was at fault itself, or several sites had them. */
export function siteBehind(health: Health): string | null {
  return health.ownFaults === 0 && !health.manySites ? health.site : null;
}

/** Whether the last fault, which `health` counts already, takes the exit out. */
export function isTooMany(health: Health, context: FaultContext): boolean {
  const limit = limitOf(context);
  const count = limit.isOwn ? health.ownFaults : health.faults;
  return count >= (health.manySites ? limit.manySites : limit.oneSite);
}
