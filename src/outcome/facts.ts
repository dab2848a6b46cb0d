/** What an attempt showed, as values: the input of classify and retry. */
import type { Fault } from '../core/fault.js';
import type { Fields } from '../http1/fields.js';

export type { FaultKind, Phase } from '../core/fault.js';

/** A try that brought no answer of the target. */
export type FaultFacts = Fault;

/** A try that brought an answer: the target's over plain HTTP, or the refusal of a CONNECT. */
export interface AnswerFacts {
  readonly kind: 'answer';
  readonly status: number;
  readonly fields: Fields;
  /** True when the answer refused our CONNECT, so that it is the upstream's own word. */
  readonly refusedTunnel: boolean;
  readonly requestSent: boolean;
  /** True when no proxy on the way could have answered: through SOCKS, or without one. */
  readonly isTargets?: boolean;
  /** When it came, by the clock on the wall; for dates of answers that say no time of their own. */
  readonly receivedWallMs?: number;
  /** Whether a body follows, whose end says whether the way held. */
  readonly isBodyDue?: boolean;
}

/** A tunnel that stands. */
export interface TunnelFacts {
  readonly kind: 'tunnel';
}

export type AttemptFacts = FaultFacts | AnswerFacts | TunnelFacts;

/** What an attempt proved. */
export type VerdictName =
  | 'ok'
  | 'blocked'
  | 'suspect'
  | 'throttled'
  | 'upstream_failed'
  | 'target_failed'
  | 'unclear'
  | 'client_gone'
  | 'local_fault';
