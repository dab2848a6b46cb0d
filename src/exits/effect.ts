/** What comes of telling the ledger something, as values: whoever tells emits the events. */
import type { Upstream } from '../upstreams/upstream.js';

/** What came of recording something. */
export type Effect =
  | { readonly kind: 'none' }
  /** The exit is set aside, for a site or (null) altogether. */
  | {
      readonly kind: 'banned';
      readonly site: string | null;
      readonly reason: string;
      readonly strikes: number;
      readonly forMs: number;
    }
  /** It would be set aside, but too much of this pool is already. */
  | { readonly kind: 'spared'; readonly site: string | null; readonly reason: string; readonly pool: string }
  /** Its trial went well: it is in use again. */
  | { readonly kind: 'returned'; readonly site: string | null };

/** Why and how an exit is set aside. */
export interface BanAsk {
  readonly reason: string;
  /** How long; without it, the times of the rules. Never longer than their cap. */
  readonly forMs?: number;
  /** A person, or the site itself by Retry-After, says so: the share of the pool is not asked. */
  readonly isOrder?: boolean;
}

/** One exit as the ledger sees it. */
export interface ExitSnapshot {
  readonly upstream: Upstream;
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
