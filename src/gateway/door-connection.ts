/** What a listener knows of a connection of a client, whatever is spoken on it. */
import type { TimerWheel } from '../core/timer-wheel.js';
import type { Failure } from '../core/errors.js';
import type { Limits, Timeouts } from '../routing/runtime.js';
import type { ClientExchange, Origin } from './exchange.js';

/** One accepted connection. */
export interface DoorConnection {
  /** Whether nothing is owed to the client: no request under way, or its answer taken. */
  readonly isOver: boolean;
  /** Closes at once if idle; otherwise after the answer under way. */
  drain(): void;
  /** Ends it at once, so that the client sees that it was cut. */
  cut(): void;
}

/** What a connection needs of the gateway. */
export interface ConnectionHost {
  readonly wheel: TimerWheel;
  timeouts(): Timeouts;
  limits(): Limits;
  nowMs(): number;
  isDraining(): boolean;
  /** Serves one request; never throws. */
  serve(exchange: ClientExchange): void;
  /** Answers what never became a request, on an exchange without head. */
  refuse(exchange: ClientExchange, failure: Failure): void;
  /**
   * Calls `admitted`, at once or later, when the login in the exchange's head is good enough to go on; where it is not, the
   * exchange is answered.
   */
  checkLogin(exchange: ClientExchange, admitted: () => void): void;
  /** Tells of a connection that never became a request. */
  onUnusable(origin: Origin, what: Unusable): void;
  /** The connection is the listener's no more: it closed, or its wire was taken over. */
  release(connection: DoorConnection): void;
}

/** Why a connection was of no use. */
export interface Unusable {
  readonly reason: 'tls_hello' | 'tls_failed' | 'proxy_header' | 'socks_handshake';
  readonly detail: string;
}
