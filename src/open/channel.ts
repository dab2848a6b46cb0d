/**
 * What an upstream connection gives, whatever protocol it speaks: send one request, get one answer.
 * Types only; `http-connection.ts` is the HTTP/1.1 implementation.
 */
import type { Fault } from '../core/fault.js';
import type { Framing } from '../http1/body.js';
import type { Fields } from '../http1/fields.js';
import type { ResponseHead } from '../http1/head.js';
import type { BodySource } from '../http1/stream.js';
import type { Target } from '../protocol/target.js';
import type { Wire } from './wire.js';

/** A request, ready but for the form of its target and the upstream's login. */
export interface HopRequest {
  readonly method: string;
  readonly target: Target;
  /** End-to-end fields with Host; with Content-Length where the framing is by length. */
  readonly fields: Fields;
  /** `none`, `length` or `chunked`. */
  readonly framing: Framing;
  readonly body: BodySource | null;
  /** The protocol asked for by Upgrade, or null. */
  readonly upgrade: string | null;
  /** Ids of the gateways passed, ours last; sent only to upstreams that are gateways of our kind. */
  readonly loopTrail: string;
}

/** What goes along with one sending. */
export interface SendOptions {
  readonly firstByteMs: number;
  readonly bodyIdleMs: number;
  /** Called for each interim answer (1xx but 101), in order. */
  readonly onInterim: (head: ResponseHead) => void;
}

/** The head of an answer, its body still to come. */
export interface HopAnswer {
  readonly kind: 'answer';
  readonly head: ResponseHead;
  readonly framing: Framing;
  readonly body: BodySource;
  /** After a 101: the wire, and the bytes that came behind the head. */
  readonly upgraded: { readonly wire: Wire; readonly rest: Buffer } | null;
}

/** A connection on which requests can be sent, one after the other. */
export interface UpstreamChannel {
  readonly kind: 'channel';
  /** Whether the connection served before; such a one may turn out stale and is then replaced inside `send`. */
  readonly isReused: boolean;
  /** Whether its answers can only be the target's: no proxy behind it speaks HTTP. */
  readonly isTargets: boolean;
  send(request: HopRequest, options: SendOptions): Promise<HopAnswer | Fault>;
  /** Whose a fault is that came behind the head: the target's where there is nobody else. */
  blame(fault: Fault): Fault;
  destroy(): void;
}
