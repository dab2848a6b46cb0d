/**
 * One connection to an HTTP/1.1 upstream: writes a request, reads the answer, says whether it can be used again.
 * Knows framing, not meaning: no status is judged here.
 */
import type { Fault, FaultKind, Phase } from '../core/fault.js';
import type { Deadline, TimerWheel } from '../core/timer-wheel.js';
import { wantsKeepAlive } from '../http1/connection.js';
import { responseFraming, type Framing } from '../http1/body.js';
import { ResponseHeadReader, type HeadLimits, type ResponseHead } from '../http1/head.js';
import type { BodyFault } from '../http1/stream.js';
import { AnswerBody } from './answer-body.js';
import type { HopAnswer, HopRequest, SendOptions } from './channel.js';
import type { Abandonment } from './dial.js';
import { faultKindOf } from './local-faults.js';
import { RequestWriter, type WriterEvents } from './request-writer.js';
import { NOBODY, type Wire, type WireReader } from './wire.js';

/** More interim answers than this are a flood. */
const MAX_INTERIM = 16;

/** What a connection needs for all its requests. */
export interface ConnectionParts {
  readonly wheel: TimerWheel;
  readonly headLimits: HeadLimits;
  /** Called when an exchange is over and the connection can take another request. */
  readonly onReusable: (connection: HttpConnection, keepAliveMs: number | null) => void;
}

/** One request under way. */
export interface Sending {
  /** The request's head as text. */
  readonly head: string;
  readonly request: HopRequest;
  readonly options: SendOptions;
  readonly abandonment: Abandonment;
}

/** An HTTP/1.1 connection in the client's role. */
export class HttpConnection implements WireReader, WriterEvents {
  /** Whether an exchange was completed on it. */
  isReused = false;
  private readonly heads: ResponseHeadReader;
  private readonly deadline: Deadline;
  private pending: Sending | null = null;
  private resolve: (outcome: HopAnswer | Fault) => void = () => undefined;
  private answer: AnswerBody | null = null;
  private writer: RequestWriter | null = null;
  private interimCount = 0;
  private onKeptTooLong: (() => void) | null = null;
  private readonly onAbandoned = (): void => this.fail('client_gone', 'the client left');
  private readonly idleReader: WireReader = {
    bytes: () => this.onKeptTooLong?.(),
    ended: () => this.onKeptTooLong?.(),
    closed: () => this.onKeptTooLong?.(),
  };
  private hadBytes = false;
  private keepAlive = false;

  constructor(
    readonly wire: Wire,
    private readonly parts: ConnectionParts,
  ) {
    this.heads = new ResponseHeadReader(parts.headLimits);
    this.deadline = parts.wheel.idle(() => this.onDeadline());
  }

  /**
   * Sends one request; resolves with the head of the answer or with a fault.
   * The fault is `closed` with nothing received when a kept connection was stale: see {@link wasSilent}.
   */
  send(sending: Sending): Promise<HopAnswer | Fault> {
    this.wire.reader = this;
    this.interimCount = 0;
    this.hadBytes = false;
    return new Promise((resolve) => {
      this.pending = sending;
      this.resolve = resolve;
      sending.abandonment.listen(this.onAbandoned);
      this.writer = new RequestWriter(this.wire, sending.request.framing, this);
      this.writer.start(sending.head, sending.request.body);
    });
  }

  /** Whether the peer has not sent a byte since the request began. */
  get wasSilent(): boolean {
    return !this.hadBytes;
  }

  destroy(): void {
    this.deadline.cancel();
    this.wire.reader = NOBODY;
    this.wire.destroy();
  }

  /** Waits for the next request; `drop` is called when none came in `ms`, or the peer does anything. */
  keepFor(ms: number, drop: () => void): void {
    this.deadline.restart(ms);
    this.onKeptTooLong = drop;
    this.wire.reader = this.idleReader;
  }

  /** Waits no longer. */
  wake(): void {
    this.deadline.suspend();
    this.onKeptTooLong = null;
  }

  bytes(chunk: Buffer): void {
    this.hadBytes = true;
    if (this.answer !== null) this.answer.bytes(chunk);
    else this.readHeads(chunk);
  }

  ended(): void {
    if (this.answer !== null) this.answer.ended();
    else this.fail('closed', 'the upstream closed the connection before it answered');
  }

  closed(error: NodeJS.ErrnoException | null): void {
    const kind = error === null ? 'closed' : faultKindOf(error, 'closed');
    if (this.answer !== null) this.answer.closed(kind === 'reset' ? 'reset' : 'closed');
    else this.fail(kind, `the connection broke (${error?.code ?? 'closed'}) before an answer came`);
  }

  private readHeads(chunk: Buffer): void {
    let step = this.heads.push(chunk);
    while (step.kind === 'head') {
      const { head, rest } = step;
      this.heads.reset();
      if (head.status >= 200 || head.status === 101) {
        this.onFinalHead(head, rest);
        return;
      }
      if (++this.interimCount > MAX_INTERIM) {
        this.fail('target_malformed', `more than ${MAX_INTERIM} interim answers`);
        return;
      }
      this.pending?.options.onInterim(head);
      if (rest.length === 0) return;
      step = this.heads.push(rest);
    }
    if (step.kind === 'fault') this.fail('target_malformed', step.fault.detail);
  }

  private onFinalHead(head: ResponseHead, rest: Buffer): void {
    const pending = this.pending;
    if (pending === null) return;
    const { request, options } = pending;
    if (head.status === 101) {
      this.onSwitch(head, rest);
      return;
    }
    const result = responseFraming(head, request.method);
    if (result.kind === 'fault') {
      this.fail('target_malformed', result.fault.detail);
      return;
    }
    this.keepAlive = result.framing.kind !== 'close' && wantsKeepAlive(head) && !mayBeMisread(request);
    const answer = new AnswerBody(this.wire, result.framing, {
      deadline: this.deadline,
      idleMs: options.bodyIdleMs,
      trailerLimits: this.parts.headLimits,
      onDone: (isClean) => this.onAnswerDone(isClean, head),
    });
    this.settle({ kind: 'answer', head, framing: result.framing, body: answer, upgraded: null });
    this.answer = answer;
    answer.hold(rest);
  }

  /** A 101 that was asked for hands the wire over; one that was not is a broken answer (RFC 9110, section 15.2.2). */
  private onSwitch(head: ResponseHead, rest: Buffer): void {
    const asked = this.pending?.request.upgrade;
    const given = head.fields.get('upgrade');
    if (asked === null || asked === undefined || given?.toLowerCase() !== asked.toLowerCase()) {
      this.fail('target_malformed', 'an answer 101 that was not asked for');
      return;
    }
    const framing: Framing = { kind: 'none' };
    const upgraded = { wire: this.wire, rest: Buffer.from(rest) };
    this.wire.pause();
    this.settle({ kind: 'answer', head, framing, body: AnswerBody.empty(), upgraded });
    this.wire.reader = NOBODY;
  }

  /** @internal Called by the writer when the whole request is written. */
  onRequestSent(): void {
    const pending = this.pending;
    if (pending !== null) this.deadline.restart(pending.options.firstByteMs);
    else if (this.answer?.isDone === true) this.release(null);
  }

  /** The client's body ended before its end: the target must not take what it has for the whole. */
  onRequestCut(fault: BodyFault): void {
    if (this.pending !== null) this.fail('client_gone', fault.detail);
    this.wire.reset();
  }

  private onAnswerDone(isClean: boolean, head: ResponseHead): void {
    this.answer = null;
    const requestDone = this.writer?.isDone === true;
    if (!isClean || !this.keepAlive || !requestDone || this.wire.hasEnded || this.wire.isClosed) {
      this.destroy();
      return;
    }
    this.release(keepAliveMsOf(head));
  }

  private release(keepAliveMs: number | null): void {
    this.writer = null;
    this.isReused = true;
    this.parts.onReusable(this, keepAliveMs);
  }

  private onDeadline(): void {
    if (this.onKeptTooLong !== null) this.onKeptTooLong();
    else if (this.answer !== null) this.answer.onIdle();
    else this.fail('timeout', `no answer within ${this.pending?.options.firstByteMs ?? 0} ms`);
  }

  private fail(fault: FaultKind, detail: string): void {
    const requestSent = this.writer?.hasWritten === true;
    const phase: Phase = requestSent ? 'first_byte' : 'send';
    this.settle({ kind: 'fault', phase, fault, detail, requestSent });
    this.writer?.stop();
    // Ended in order, half a request might be taken for a whole one.
    if (requestSent && this.writer?.isDone === false) this.wire.reset();
    this.destroy();
  }

  private settle(outcome: HopAnswer | Fault): void {
    const pending = this.pending;
    if (pending === null) return;
    this.pending = null;
    this.deadline.suspend();
    pending.abandonment.listen(null);
    this.resolve(outcome);
  }
}

/** Methods whose body every server reads; after any other, some take it for the next request. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

function mayBeMisread({ method, body }: HopRequest): boolean {
  return body !== null && !WITH_BODY.has(method);
}

/** The peer's own idle limit, less a second for the way, from `Keep-Alive: timeout=N`; null where it says none. */
function keepAliveMsOf(head: ResponseHead): number | null {
  const value = head.fields.get('keep-alive');
  if (value === undefined) return null;
  const at = value.toLowerCase().indexOf('timeout=');
  if (at < 0) return null;
  const seconds = Number.parseInt(value.slice(at + 8), 10);
  return Number.isNaN(seconds) ? null : Math.max(0, seconds * 1000 - 1000);
}
