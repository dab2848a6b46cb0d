/** Short-lived facts that gateways share, as ports that speak the domain. Implementations: memory now, Redis later. */

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
