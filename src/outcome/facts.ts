/** What an attempt showed, as values: the input of classify and retry. */
import type { Fields } from '../http1/fields.js';

/** Where in an attempt a fault came. */
export type Phase = 'dial' | 'tls' | 'handshake' | 'send' | 'first_byte' | 'body';

/** What went wrong on the way. `local`: our own sockets, ports or memory, never the exit's fault. */
export type FaultKind =
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'dns'
  | 'tls'
  | 'auth'
  | 'closed'
  | 'reset'
  | 'protocol'
  | 'loop'
  | 'local'
  | 'client_gone'
  | 'deadline'
  | 'target_dns'
  | 'target_unreachable'
  | 'target_timeout'
  | 'target_malformed';

/** A try that brought no answer of the target. */
export interface FaultFacts {
  readonly kind: 'fault';
  readonly phase: Phase;
  readonly fault: FaultKind;
  /** For people; never holds a secret. */
  readonly detail: string;
  /** Whether a byte of the client's request went to the upstream (a CONNECT line of ours does not count). */
  readonly requestSent: boolean;
}

/** A try that brought an answer: the target's over plain HTTP, or the refusal of a CONNECT. */
export interface AnswerFacts {
  readonly kind: 'answer';
  readonly status: number;
  readonly fields: Fields;
  /** True when the answer refused our CONNECT, so that it is the upstream's own word. */
  readonly refusedTunnel: boolean;
  readonly requestSent: boolean;
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
