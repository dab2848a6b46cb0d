/**
 * A client's connection, HTTP/1.1 in the server's role: reads one request after the other, hands each on as a
 * `ClientExchange`, keeps order. Knows no upstream. Everything a client may send is bounded in size and time.
 */
import type { Deadline } from '../core/timer-wheel.js';
import type { Failure } from '../core/errors.js';
import { requestFraming } from '../http1/body.js';
import { upgradeOf } from '../http1/connection.js';
import { Fields } from '../http1/fields.js';
import { RequestHeadReader, type HeadFault, type RequestHead } from '../http1/head.js';
import type { Wire, WireReader } from '../open/wire.js';
import type { ConnectionHost, DoorConnection } from './door-connection.js';
import { H1Exchange } from './h1-exchange.js';
import type { Origin } from './exchange.js';

/** Bytes of later requests, or of a tunnel that does not stand yet, that are kept before the client is paused. */
const EARLY_BYTES = 64 * 1024;
/** How long a client that was told `close` may go on sending before the socket is closed on it. */
const LINGER_MS = 2000;

/** `flushing`: the answer is whole but not all of it taken; `lingering`: the client was told that it is over. */
type State = 'head' | 'exchange' | 'flushing' | 'lingering' | 'taken' | 'closed';
/** In these what comes is read or kept; in the others it is dropped. */
const READING: ReadonlySet<State> = new Set(['head', 'exchange', 'flushing']);

/** One connection. */
export class ClientConnection implements WireReader, DoorConnection {
  private readonly heads: RequestHeadReader;
  private readonly deadline: Deadline;
  private exchange: H1Exchange | null = null;
  private early: Buffer[] = [];
  private earlyBytes = 0;
  /** Of the body under way, since its silence was last counted anew. */
  private bodyBytes = 0;
  private state: State = 'head';
  private isServed = false;

  constructor(
    readonly wire: Wire,
    readonly origin: Origin,
    readonly host: ConnectionHost,
  ) {
    this.heads = new RequestHeadReader(host.limits());
    this.deadline = host.wheel.arm(host.timeouts().clientHeaderMs, () => this.onDeadline());
    wire.reader = this;
  }

  /** Whether no request is under way. */
  get isIdle(): boolean {
    return this.state === 'head' && !this.heads.started;
  }

  /** Whether nothing is owed to the client: no request under way, or its answer taken. */
  get isOver(): boolean {
    return this.state !== 'exchange' && this.state !== 'flushing';
  }

  /** Refuses the connection before it has said anything. */
  turnAway(failure: Failure): void {
    this.deadline.cancel();
    this.refuse(NO_HEAD, failure);
  }

  /** Closes at once if idle; otherwise after the answer under way. */
  drain(): void {
    if (this.isIdle) this.close();
    else this.exchange?.closeAfter();
  }

  cut(): void {
    this.wire.reset();
  }

  /** A loop and not a recursion, since one segment may hold thousands of requests. */
  bytes(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0 && READING.has(this.state)) {
      rest = this.state === 'head' ? this.readHead(rest) : this.readDuring(rest);
    }
  }

  ended(): void {
    const { exchange } = this;
    if (this.state === 'head') this.close();
    else if (exchange?.onClientFin() === true) {
      exchange.onClientGone();
      this.wire.destroy();
    }
  }

  closed(): void {
    const { exchange } = this;
    this.state = this.state === 'taken' ? 'taken' : 'closed';
    this.deadline.cancel();
    this.exchange = null;
    this.early = [];
    exchange?.onClientGone();
    this.host.release(this);
  }

  /** Called by the exchange when its answer is whole. */
  finished(mustClose: boolean): void {
    this.exchange = null;
    if (mustClose) {
      this.close();
      return;
    }
    this.state = 'flushing';
    this.whenFlushed(this.next);
  }

  /** The next request is read once the client took the answer: one that only asks must not fill our memory. */
  private readonly next = (): void => {
    if (this.state !== 'flushing') return;
    this.state = 'head';
    this.deadline.restart(this.host.timeouts().clientIdleMs);
    const early = this.takeEarly();
    for (const chunk of early) this.bytes(chunk);
    // Half a request behind a FIN will never be whole.
    if (this.wire.hasEnded) this.ended();
    else if (this.isIdle && this.host.isDraining()) this.close();
    else this.wire.resume();
  };

  /** Gives the wire away for good, paused. */
  takeOver(): readonly Buffer[] {
    this.state = 'taken';
    this.deadline.cancel();
    this.exchange = null;
    this.wire.pause();
    this.host.release(this);
    return this.takeEarly();
  }

  /** Starts to count the silence inside a body, or stops. */
  watchBody(isWatched: boolean): void {
    this.bodyBytes = 0;
    if (isWatched) this.deadline.restart(this.host.timeouts().bodyIdleMs);
    else this.deadline.suspend();
  }

  /** Some of a watched body came. A drip is no better than silence: only what keeps up the least rate counts. */
  bodyCame(bytes: number): void {
    const { bodyIdleMs } = this.host.timeouts();
    this.bodyBytes += bytes;
    if (this.bodyBytes * 1000 >= this.host.limits().bodyRate * bodyIdleMs) this.watchBody(true);
  }

  private takeEarly(): Buffer[] {
    const { early } = this;
    this.early = [];
    this.earlyBytes = 0;
    return early;
  }

  /** Returns what came behind the head. */
  private readHead(chunk: Buffer): Buffer {
    if (!this.heads.started && this.isServed) this.deadline.restart(this.host.timeouts().clientHeaderMs);
    const step = this.heads.push(chunk);
    if (step.kind === 'more') return NOTHING;
    if (step.kind === 'fault') {
      this.onHeadFault(step.fault);
      return NOTHING;
    }
    this.heads.reset();
    this.deadline.suspend();
    this.isServed = true;
    this.start(step.head, step.rest.length > 0);
    return step.rest;
  }

  private start(head: RequestHead, isMoreBehind: boolean): void {
    const result = requestFraming(head);
    if (result.kind === 'fault') {
      this.onHeadFault(result.fault, head);
      return;
    }
    const exchange = new H1Exchange(this, head, result.framing);
    if (isMoreBehind) this.hasSpokenEarly(exchange);
    this.exchange = exchange;
    this.state = 'exchange';
    this.host.serve(exchange);
  }

  /** Returns what came behind a request that is over; keeps what came behind one that is not. */
  private readDuring(chunk: Buffer): Buffer {
    const { exchange } = this;
    const rest = exchange?.takeBody(chunk) ?? chunk;
    if (rest.length === 0 || this.state === 'head') return rest;
    if (exchange !== null) this.hasSpokenEarly(exchange);
    this.early.push(rest);
    this.earlyBytes += rest.length;
    if (this.earlyBytes > EARLY_BYTES) this.wire.pause();
    return NOTHING;
  }

  /**
   * What comes behind a CONNECT or an upgrade before its answer is meant for what should follow: if that is refused it
   * is no request.
   */
  private hasSpokenEarly(exchange: H1Exchange): void {
    const { head } = exchange;
    if (head.method === 'CONNECT' || upgradeOf(head) !== null) exchange.closeAfter();
  }

  private onHeadFault(fault: HeadFault, head: RequestHead = NO_HEAD): void {
    this.deadline.cancel();
    if (fault.kind === 'tls_hello') {
      this.host.onUnusable(this.origin, { reason: 'tls_hello', detail: TLS_HINT });
      this.wire.destroy();
      return;
    }
    this.refuse(head, failureOf(fault));
  }

  private refuse(head: RequestHead, failure: Failure): void {
    const exchange = new H1Exchange(this, head, { kind: 'none' });
    exchange.closeAfter();
    this.exchange = exchange;
    this.state = 'exchange';
    this.host.refuse(exchange, failure);
  }

  private onDeadline(): void {
    if (this.state === 'lingering') this.wire.destroy();
    else if (this.state === 'exchange') this.exchange?.onBodySilent();
    else if (this.heads.started) this.refuse(NO_HEAD, LATE_HEAD);
    else this.close();
  }

  /**
   * Reads on and drops it: a close with unread bytes would reset the answer away. Ends a moment after the last byte of
   * the answer left; how slow a reader may be, the wire knows.
   */
  private close(): void {
    this.wire.end();
    this.state = 'lingering';
    this.early = [];
    this.deadline.suspend();
    this.wire.resume();
    this.whenFlushed(() => this.deadline.restart(LINGER_MS));
  }

  private whenFlushed(callback: () => void): void {
    if (this.wire.hasUnsent) this.wire.whenFlushed(callback);
    else callback();
  }
}

const TLS_HINT =
  'The client speaks TLS to a plain port: its proxy URL should begin with http://, also for https targets.';
const NOTHING = Buffer.alloc(0);
const NO_HEAD: RequestHead = { method: '', target: '', minor: 1, fields: Fields.empty() };
const LATE_HEAD: Failure = {
  code: 'request_timeout',
  detail: 'The head of the request did not arrive in time.',
};
function failureOf(fault: HeadFault): Failure {
  switch (fault.kind) {
    case 'too_large':
      return { code: 'header_too_large', detail: fault.detail };
    case 'unsupported_coding':
      return { code: 'not_implemented', detail: fault.detail };
    default:
      return { code: 'bad_request', detail: fault.detail };
  }
}
