/**
 * Short-lived facts that gateways share, as six ports that speak the domain: pins, bans, leases, limits, turns, members.
 * Each has an implementation in memory, one on Redis, and one that goes on without Redis; one contract suite tests all.
 * Times are durations: the clocks of two gateways are never compared.
 */
import type { Fence } from '../facts/lease.js';
import type { Granted, Rate } from '../facts/limit.js';
import type { Member } from '../facts/member.js';

/** What a port rejects with when the store can't be asked now, or didn't answer in time. It may have done it all the same. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway';
}

/** A session's binding to one exit. */
export interface Pin {
  /** Id of the exit. */
  readonly exit: string;
  /** 1 for the first exit of a session, one more with each move. */
  readonly generation: number;
}

/** An answer that a store may have at hand, or must fetch. Whoever asks is ready for both. */
export type Answer<T> = T | Promise<T>;

/** A pin that is live, with its key and the time it has left. */
export interface HeldPin {
  readonly key: string;
  readonly pin: Pin;
  readonly leftMs: number;
}

/** Which pins are wanted. */
export interface PinQuery {
  /** Only keys that sort behind this one; null from the beginning. */
  readonly after: string | null;
  readonly limit: number;
  /** Only those of this client or on this exit; null for all. */
  readonly client: string | null;
  readonly exit: string | null;
}

/** Where pins live. Keys are made by `facts/pin.ts` from client and session, so that clients never meet. */
export interface Pins {
  /** The pin, its time refreshed to `ttlMs`; null where there is none or it has run out. */
  find(key: string, ttlMs: number): Answer<Pin | null>;
  /** Sets the first pin of a session. When another came first, that one is returned: the first write wins. */
  bind(key: string, exit: string, ttlMs: number): Promise<Pin>;
  /** Moves a session to another exit, if it is still at `from`; returns the pin that then holds. */
  move(key: string, from: Pin, move: { readonly exit: string; readonly ttlMs: number }): Promise<Pin>;
  /** Forgets a session; true when it was there. */
  drop(key: string): Promise<boolean>;
  /** The first `limit` live pins that are asked for, in the order of their keys. For people, not for each request. */
  list(query: PinQuery): Promise<readonly HeldPin[]>;
  /** How many live pins each of these exits has; those without are left out. For people, not for each request. */
  countOn(exits: ReadonlySet<string>): Promise<ReadonlyMap<string, number>>;
}

/** Pins that other gateways change, too. */
export interface TellingPins extends Pins {
  /** Hears of sessions that another gateway moved or dropped, as far as the way is open. Returns what ends it. */
  listen(hear: (key: string) => void): () => void;
}

/** A word about the ban of an exit; what orders words about the same exit and site is in `facts/ban-order.ts`. */
export interface SharedBan {
  /** Id of the exit. */
  readonly exit: string;
  /** Null: for all sites. */
  readonly site: string | null;
  readonly version: number;
  /** Time left; 0: the ban is lifted or over. */
  readonly leftMs: number;
  readonly strikes: number;
  readonly reason: string;
  /** The gateway that says so. */
  readonly by: string;
}

/** What came to be known since a cursor. */
export interface BanChanges {
  readonly bans: readonly SharedBan[];
  /** Where to go on; only the store that gave it can read it. */
  readonly cursor: string;
  /** The store forgot what it had (or nothing was asked before): `bans` is all that it knows now. */
  readonly isWhole: boolean;
}

/** Bans of all gateways. */
export interface Bans {
  /** Says a word; repeating it or saying words in another order is harmless. Returns the word that then holds. */
  put(ban: SharedBan): Promise<SharedBan>;
  /** All words that hold since the cursor, ended and lifted ones for as long as they are remembered. Null: all. */
  changes(since: string | null): Promise<BanChanges>;
  /** Hears of words as they are said, as far as the way there is open; `changes` is the truth. Returns what ends it. */
  listen(hear: (ban: SharedBan) => void): () => void;
}

/** A lease on an exit. */
export interface Lease extends Fence {
  readonly pool: string;
  readonly exit: string;
  /** Unguessable; names the lease. */
  readonly id: string;
  /** As it was asked for. */
  readonly keepMs: number;
  /** Time since another holder may have used the exit last, when the lease was given; null: longer ago than is remembered. */
  readonly usedAgoMs: number | null;
}

/** What is asked for. */
export interface LeaseAsk {
  readonly pool: string;
  /** At most 8, best first; one of them is given. Those of one `leaseBucket` cost one call. */
  readonly candidates: readonly string[];
  readonly ttlMs: number;
  /** How many leases an exit may have at once; 1: exclusive. */
  readonly slots: number;
  /** How long it is remembered when the exit was used last, for the next holder; 0 where no exit rests between uses. */
  readonly keepMs?: number;
  /** Tell whoever has it that it is wanted; for one candidate. */
  readonly isWanted?: boolean;
}

/** Who uses which exit. */
export interface Leases {
  /** The first candidate that has a slot free; null where none has. */
  acquire(ask: LeaseAsk): Promise<Lease | null>;
  /** Makes leases last `ttlMs` from now. For each: whether it was still held. */
  renew(leases: readonly Lease[], ttlMs: number): Promise<readonly boolean[]>;
  /** Gives leases back. For each: whether it was still held. @param usedAgoMs time since the last use of each; long, where not given */
  release(leases: readonly Lease[], usedAgoMs?: readonly number[]): Promise<readonly boolean[]>;
}

/** Leases that other gateways want, too. */
export interface TellingLeases extends Leases {
  /** Hears which exits others ask for in vain, as far as the way is open. Returns what ends it. */
  listen(hear: (pool: string, exit: string) => void): () => void;
}

/** Rates that all gateways keep together. */
export interface Limits {
  /** Takes up to `wanted` from the rate that goes by this key. */
  take(key: string, rate: Rate, wanted: number): Promise<LimitTake>;
  /** Takes one of a rate in common and one of the first candidate's that has any left: both, or nothing. One call. */
  pick(ask: LimitPick): Promise<LimitPicked>;
  /** Gives back what was picked and came to nothing; a part of it, where the other rate is set to null. */
  putBack(hold: LimitHold): Promise<void>;
}

/** What was taken. */
export type LimitTake = Pick<Granted, 'granted' | 'retryAfterMs'>;

/** What is to be picked. */
export interface LimitPick {
  /** What the rates belong to; they are kept together. */
  readonly group: string;
  /** In common; null: there is none. */
  readonly rate: Rate | null;
  /** At least 1 and at most 8, best first. */
  readonly candidates: readonly string[];
  /** Of each candidate; null: there is none, and the first is picked. */
  readonly each: Rate | null;
}

/** What was picked. */
export interface LimitHold extends Pick<LimitPick, 'group' | 'rate' | 'each'> {
  readonly candidate: string;
  /** Only this gateway was asked. */
  readonly isAlone: boolean;
}

export type LimitPicked =
  /** `waits`: time until the candidates before the one that was picked have one again. */
  | { readonly kind: 'picked'; readonly hold: LimitHold; readonly waits: readonly number[] }
  /** Nothing was taken: the rate in common is used up, or that of every candidate. */
  | { readonly kind: 'limited'; readonly which: 'group'; readonly retryAfterMs: number }
  | { readonly kind: 'limited'; readonly which: 'candidates'; readonly waits: readonly number[] };

/** A turn that was taken. */
export interface Turn {
  readonly key: string;
  /** Unguessable; names the turn. Empty: nobody could be asked, and each gateway goes by itself. */
  readonly id: string;
}

/** What came of asking for a turn. */
export type TurnAnswer =
  | { readonly kind: 'taken'; readonly turn: Turn }
  /** Somebody has it: for so long at most. */
  | { readonly kind: 'busy'; readonly waitMs: number }
  /** Somebody had it, and its rest lasts so long. */
  | { readonly kind: 'resting'; readonly waitMs: number };

/** What only one gateway may do at a time, and only after a rest: an exit at a site, a trial, a canary. */
export interface Turns {
  /** Takes the turn at what goes by this key. Whoever crashes with it has it for `holdMs`. */
  take(key: string, holdMs: number): Promise<TurnAnswer>;
  /** Ends a turn: the next one is free after `restMs`. False where another has it by now, who is left alone. */
  end(turn: Turn, restMs: number): Promise<boolean>;
}

/** The gateways of a fleet. */
export interface Members {
  /** Tells that `self` is alive for `ttlMs` more; returns all who are, in the order of their ids. */
  announce(self: Member, ttlMs: number): Promise<readonly Member[]>;
  /** Takes a gateway off the list. */
  leave(id: string): Promise<void>;
  /** All who are alive, in the order of their ids. */
  list(): Promise<readonly Member[]>;
}
