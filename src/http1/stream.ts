/**
 * How body bytes move: a source pushes into one sink, and stops when the sink says so. Types only.
 * Bytes are **lent**: a chunk is valid during the call; whoever still needs it when `data` returns false
 * keeps the source paused until it is done with it, or copies it.
 */
import type { Fields } from './fields.js';

/** Why a body ended before its end. */
export interface BodyFault {
  readonly kind: 'closed' | 'reset' | 'timeout' | 'malformed' | 'too_large' | 'gone';
  readonly detail: string;
}

/** Takes the bytes of one body. Exactly one of `end` and `fail` is called, once, last. */
export interface BodySink {
  /** Takes a chunk; false means: hold on until {@link BodySource.resume}. */
  data(chunk: Buffer): boolean;
  /** The body is whole. */
  end(trailers: Fields | null): void;
  /** The body was cut. Never to be passed off as whole. */
  fail(fault: BodyFault): void;
}

/** Gives the bytes of one body. */
export interface BodySource {
  /** Begins to deliver; called once. */
  pipe(sink: BodySink): void;
  /** Goes on after a `data` that returned false. */
  resume(): void;
  /** Nobody wants the rest. What feeds the body is closed unless it has already ended; the sink hears nothing more. */
  cancel(): void;
}
