/**
 * The interface between whoever speaks with the client and whoever serves the request. HTTP/1.1 is one implementation
 * (`h1-exchange.ts`), SOCKS5 another (`socks-exchange.ts`); intercepted HTTP/1.1 and HTTP/2 will be others.
 */
import type { ByteMeter } from '../access/rate-limit.js';
import type { ErrorCode } from '../core/errors.js';
import type { Framing } from '../http1/body.js';
import type { Fields } from '../http1/fields.js';
import type { RequestHead, ResponseHead } from '../http1/head.js';
import type { BodyFault, BodySource } from '../http1/stream.js';
import type { Wire } from '../open/wire.js';

/** Who asks: where the connection came in and from where. */
export interface Origin {
  readonly listener: string;
  readonly remoteAddress: string;
}

/** The wire of a client that changed to a tunnel, and what it sent before that. */
export interface TakenOver {
  readonly wire: Wire;
  readonly early: readonly Buffer[];
}

/** The head of an answer. `code`: what it says where it is an error of ours, for protocols that have other words. */
export interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  readonly fields: Fields;
  readonly code?: ErrorCode;
}

/** One request of a client, and the means to answer it. */
export interface ClientExchange {
  readonly head: RequestHead;
  readonly origin: Origin;
  /** Monotonic time at which the head was whole. */
  readonly startedMs: number;
  readonly framing: Framing;
  /** The request's body; null where there is none. */
  readonly body: BodySource | null;
  /** Body bytes so far, from the client and to it. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Whether a final head was sent, so that nothing can be taken back. */
  readonly isCommitted: boolean;
  /** Called once when the client is gone before the end (reset, or FIN where that counts as leaving). */
  onGone: (() => void) | null;
  /** Counts bytes against the client as they pass, where it has a limit of them. */
  meter: ByteMeter | null;
  /** Why the request's body ended before its end, if it did. */
  readonly bodyFault: BodyFault | null;
  /** Whether a FIN of the client, once its request is whole, counts as leaving. */
  isFinGone: boolean;
  /** Sends an interim answer; nothing happens for HTTP/1.0 clients. */
  interim(head: ResponseHead): void;
  /** Commits the answer. `fields` are end-to-end and given away; framing and persistence are the implementation's. */
  respond(head: AnswerHead, framing: Framing): void;
  /** Sends body bytes, lent by the caller. False: hold on until `whenFlushed`. */
  write(chunk: Buffer): boolean;
  /** Sends a head that still waits for its first body bytes to travel with. */
  flush(): void;
  /** Takes an answer back whose head still waits; false when it went out, and the answer can only be cut. */
  withdraw(): boolean;
  whenFlushed(callback: () => void): void;
  /** The answer is whole. */
  end(trailers: Fields | null): void;
  /** Ends the connection so that the client sees that the answer was cut. */
  abort(): void;
  /** Closes the connection after this answer. */
  closeAfter(): void;
  /** For CONNECT and upgrades: sends this head as it is and hands over the wire, paused. The exchange is over. */
  takeOver(head: AnswerHead): TakenOver;
}
