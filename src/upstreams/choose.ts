/**
 * From facts to an exit: one synchronous function. It looks, picks and says why; it changes nothing but the cursor.
 */

/** What came of choosing. */
export type Choice =
  | {
      readonly kind: 'exit';
      /** Index in the pool's `upstreams`. */
      readonly index: number;
      readonly why: 'pinned' | 'session_hash' | 'strategy' | 'named';
    }
  /** Nothing may be used now; `retryAfterMs` until the first exit is back, null when none ever will be by itself. */
  | { readonly kind: 'none'; readonly retryAfterMs: number | null; readonly reason: string };
