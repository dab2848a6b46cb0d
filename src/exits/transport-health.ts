/**
 * When a fault on the way counts as the exit's own, and how many of them take it out. Values only.
 */
import { noBan } from '../facts/ban.js';
import type { BanState, TransportFault } from '../facts/ban.js';

/** An exit whose way had faults. */
export interface Health {
  readonly ban: BanState;
  /** Faults since the last success. */
  readonly inARow: number;
  /** Whether those faults came with more than one site. */
  readonly manySites: boolean;
  /** Site of the last one. */
  readonly site: string | null;
}

/** An exit without faults. */
export const sound: Health = { ban: noBan, inARow: 0, manySites: false, site: null };

/** What the ledger knows besides. */
export interface FaultContext {
  readonly fault: TransportFault;
  readonly site: string | null;
  /** Whether this exit ever brought an answer. */
  readonly hasWorked: boolean;
}

/** Faults in a row that take an exit out. */
const USUAL = 2;
/** The same for faults that may be the site's, as long as only one site shows them. */
const ONE_SITE = 5;

/** The faults so far with one more. */
export function withFault(health: Health, context: FaultContext): Health {
  const isOther = health.inARow > 0 && context.site !== null && context.site !== health.site;
  return {
    ban: health.ban,
    inARow: health.inARow + 1,
    manySites: health.manySites || isOther,
    site: context.site ?? health.site,
  };
}

/**
 * Whether the last fault takes the exit out: a refused dial and a refused login at once, all others with the second
 * in a row. Silence may be the site's, and so may a 407 from an exit whose login was good before: they count when
 * two sites show them, or five in a row.
 */
export function isTooMany(health: Health, context: FaultContext): boolean {
  const { fault } = context;
  if (fault === 'refused' || (fault === 'auth' && !context.hasWorked)) return true;
  if (fault === 'silent' || fault === 'auth') {
    return health.inARow >= (health.manySites ? USUAL : ONE_SITE);
  }
  return health.inARow >= USUAL;
}
