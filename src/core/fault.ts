/** What can go wrong between us and the target, as values: the words in which `open/` tells and `outcome/` judges. */

/**
 * Where in an attempt a fault came. `greeting` is what is said to the upstream before the target is named: silence there
 * is the upstream's own.
 */
export type Phase = 'dial' | 'tls' | 'greeting' | 'handshake' | 'send' | 'first_byte' | 'body';

/**
 * What went wrong. `local`: our own sockets, ports or memory, never the exit's fault. `target_*`: the upstream said so,
 * or we saw it ourselves where we go directly. `failed`: the upstream gives up and names no cause; `denied`: its rules
 * forbid the target; `unsupported`: this target can't be asked for in its protocol. `target_dns_busy`: the look-up may
 * work later. `target_forbidden` and `target_loop`: what the target's name led to may not be visited.
 * A kept connection that turns out stale is replaced inside `open/` where that is safe, and is no fault.
 */
export const faultKinds = [
  'refused',
  'unreachable',
  'timeout',
  'dns',
  'tls',
  'auth',
  'closed',
  'reset',
  'protocol',
  'failed',
  'denied',
  'unsupported',
  'loop',
  'local',
  'client_gone',
  'deadline',
  'target_dns',
  'target_dns_busy',
  'target_forbidden',
  'target_loop',
  'target_unreachable',
  'target_timeout',
  'target_malformed',
] as const;

/** One of them. */
export type FaultKind = (typeof faultKinds)[number];

/** A fault with its place. */
export interface Fault {
  readonly kind: 'fault';
  readonly phase: Phase;
  readonly fault: FaultKind;
  /** For people; never holds a secret. */
  readonly detail: string;
  /** Whether a byte of the client's request went to the upstream (a CONNECT line of ours does not count). */
  readonly requestSent: boolean;
}
