/** What rules look at, and what they say about it: the values between the two steps of judging. Types only. */
import type { Fields } from '../http1/fields.js';
import type { CompiledRule } from './compile-rules.js';

/** Where an attempt went. */
export interface RulePlace {
  readonly host: string;
  /** The registrable domain. */
  readonly site: string;
}

/** What the site normally does; null where that is not known well enough. */
export interface Usual {
  readonly size: number | null;
  readonly firstByteMs: number | null;
}

/** The head of an answer. */
export interface HeadSeen {
  readonly status: number;
  readonly fields: Fields;
  readonly firstByteMs: number;
  readonly usual: Usual;
  /** Length of the body as it comes, where the head tells; 0 where there can be none. */
  readonly length: number | null;
  /** Whether a body of this kind is looked at. */
  readonly isReadable: boolean;
}

/** The body as far as it was looked at. */
export interface BodySeen {
  /** Decoded; empty where it could not be decoded. */
  readonly bytes: Uint8Array;
  /** Whether `bytes` is all of it. */
  readonly isWhole: boolean;
  /** Length as it came; null where its end was not seen. */
  readonly length: number | null;
}

/** A rule that was met, by which condition, and what was found there. */
export interface RuleHit {
  readonly rule: CompiledRule;
  readonly field: string;
  readonly found: string;
}

/** What the head decided, and what is still open. */
export interface HeadStage {
  readonly head: HeadSeen;
  readonly hits: readonly RuleHit[];
  /** Rules whose head conditions hold and that want the body. */
  readonly pending: readonly CompiledRule[];
  /** How much of the decoded body they look at; 0: nothing of it. */
  readonly lookAt: number;
  /** How many bytes of an uncoded body are enough, unless it ends before. */
  readonly holdBytes: number;
}
