/**
 * The nouns of the codec: heads, limits and faults. Types only; what is legal is decided elsewhere.
 */
import type { Fields } from './fields.js';
import type { ToleranceName } from './tolerances.js';

/** A request without its body. `target` is as it came, one character per byte. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly minor: 0 | 1;
  readonly fields: Fields;
}

/** A response without its body. */
export interface ResponseHead {
  readonly status: number;
  readonly reason: string;
  readonly minor: 0 | 1;
  readonly fields: Fields;
  /** Which of `tolerances.ts` were used, each once; for the log. */
  readonly tolerated: readonly ToleranceName[];
}

/** How much a head may hold. */
export interface HeadLimits {
  /** Bytes from the first of the start line to the last of the blank line. */
  readonly headBytes: number;
  /** Field lines, among them the ones that are dropped. */
  readonly fieldCount: number;
}

export type HeadFaultKind =
  /** Broken or ambiguous: 400 to a client, `target_malformed` from a target. */
  | 'malformed'
  /** Over a limit: 431 to a client. */
  | 'too_large'
  /** A version of HTTP that is not 1.0 or 1.1: 505 to a client. */
  | 'unsupported_version'
  /** A transfer coding besides `chunked`: 501 to a client. */
  | 'unsupported_coding'
  /** The peer speaks TLS on a port that doesn't. */
  | 'tls_hello';

/** Why a head was refused. */
export interface HeadFault {
  readonly kind: HeadFaultKind;
  /** For people; never shows a field's value, which may be a secret. */
  readonly detail: string;
}

/** What a chunk brought. `rest` is a view of the bytes after the head. */
export type HeadStep<H> =
  | { readonly kind: 'more' }
  | { readonly kind: 'head'; readonly head: H; readonly rest: Buffer }
  | { readonly kind: 'fault'; readonly fault: HeadFault };

/** A fault of kind `malformed`. */
export function malformed(detail: string): HeadFault {
  return { kind: 'malformed', detail };
}

/** A fault of kind `too_large`. */
export function tooLarge(detail: string): HeadFault {
  return { kind: 'too_large', detail };
}
