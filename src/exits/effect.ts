/** What comes of telling the ledger something, as values: whoever tells emits the events. */
import type { BanState } from '../facts/ban.js';
import type { Upstream } from '../upstreams/upstream.js';
import type { Order } from './orders.js';

/** What came of recording something. */
export type Effect =
  | { readonly kind: 'none' }
  /** The exit is set aside, for a site or (null) altogether; or its credential, where one is named. */
  | {
      readonly kind: 'banned';
      readonly credential?: string;
      readonly site: string | null;
      readonly reason: string;
      readonly strikes: number;
      readonly forMs: number;
    }
  /** It would be set aside, but too much of this pool is already. */
  | {
      readonly kind: 'spared';
      readonly credential?: string;
      readonly site: string | null;
      readonly reason: string;
      readonly pool: string;
    }
  /** Its trial went well: it is in use again. */
  | {
      readonly kind: 'returned';
      readonly site: string | null;
      /** Where it is about a site: altogether, too. */
      readonly isEverywhere?: boolean;
    };

/** Why and how an exit is set aside. */
export interface BanAsk {
  readonly reason: string;
  /** How long; without it, the times of the rules. Never longer than their cap. */
  readonly forMs?: number;
  /** A person, or the site itself by Retry-After, says so: the share of the pool is not asked. */
  readonly isOrder?: boolean;
  /** The one site that a ban altogether had to do with, see `BanState.oneSite`. */
  readonly oneSite?: string | null;
  /** Weak evidence: it never takes the last exit of a pool. */
  readonly isDoubtful?: boolean;
  /** A person says exactly how long: the cap is not asked, and a ban that is on takes the new time. */
  readonly isExact?: boolean;
}

/** One exit as the ledger sees it. */
export interface ExitSnapshot {
  readonly upstream: Upstream;
  /** What an operator ordered about it. */
  readonly order: Order | null;
  readonly inFlight: number;
  /** Smoothed time to the first byte; null before the first answer. */
  readonly firstByteMs: number | null;
  /** End of the time out altogether, which may have passed; null when in use. */
  readonly downUntilMs: number | null;
  readonly strikes: number;
  readonly successes: number;
  readonly failures: number;
  /** Sites for which it is set aside. */
  readonly bannedSites: readonly string[];
}

/** A ban that is on, of an exit at a site or (null) altogether. */
export interface HeldBan {
  /** The ledger's number of the exit. */
  readonly slot: number;
  readonly upstream: Upstream;
  readonly site: string | null;
  readonly ban: BanState;
}
