/** The body of an answer as it comes in on a wire: framed, back-pressured, never passed off as whole when it was cut. */
import type { Deadline } from '../core/timer-wheel.js';
import { BodyReader, type BodyStep, type Framing } from '../http1/body.js';
import type { HeadLimits } from '../http1/head.js';
import type { BodyFault, BodySink, BodySource } from '../http1/stream.js';
import { Wire } from './wire.js';

const NOTHING = Buffer.alloc(0);

/** What a body needs to know of its connection. */
export interface AnswerBodyParts {
  /** The connection's own; calls {@link AnswerBody.onIdle} when it fires. */
  readonly deadline: Deadline;
  readonly trailerLimits: HeadLimits;
  /** Longest silence of the upstream inside the body. */
  readonly idleMs: number;
  /** Called once: whether the answer ended at its end with nothing behind it. */
  readonly onDone: (isClean: boolean) => void;
}

/** A source fed by a wire. */
export class AnswerBody implements BodySource {
  isDone = false;
  private sink: BodySink | null = null;
  private held: Buffer | null = null;
  /** The buffer of the wire in which `held` lies. */
  private kept: Buffer | null = null;
  private isHolding = false;
  private isPaused = false;
  private release: (() => void) | null = null;
  private fate: 'open' | 'ended' | BodyFault['kind'] = 'open';
  private readonly reader: BodyReader;
  private readonly take = (slice: Buffer): void => {
    if (this.sink?.data(slice) === false) this.isPaused = true;
  };

  constructor(
    private readonly wire: Wire,
    framing: Framing,
    private readonly parts: AnswerBodyParts,
  ) {
    this.reader = new BodyReader(framing, { tolerant: true, trailerLimits: parts.trailerLimits });
    if (framing.kind !== 'none') parts.deadline.restart(parts.idleMs);
  }

  /** A body without bytes that belongs to no wire. */
  static empty(): BodySource {
    return { pipe: (sink) => sink.end(null), resume: () => undefined, cancel: () => undefined };
  }

  /** Keeps what came behind the head, with the buffer that it is in, until somebody takes it. */
  hold(rest: Buffer): void {
    this.isHolding = true;
    this.held = rest;
    this.kept = this.wire.keep();
  }

  pipe(sink: BodySink): void {
    this.sink = sink;
    this.isHolding = false;
    const held = this.held ?? NOTHING;
    this.held = null;
    this.push(held);
    if (!this.isPaused) this.letGo();
    if (!this.isDone && !this.isPaused) this.wire.resume();
    this.settleFate();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.letGo();
    if (this.isDone) {
      this.takeRelease()?.();
      return;
    }
    this.parts.deadline.restart(this.parts.idleMs);
    this.wire.resume();
    this.settleFate();
  }

  private letGo(): void {
    if (this.kept !== null) Wire.giveBack(this.kept);
    this.kept = null;
  }

  cancel(): void {
    this.sink = null;
    if (!this.isDone) this.done(false);
    else if (this.takeRelease() !== null) this.parts.onDone(false);
  }

  bytes(chunk: Buffer): void {
    if (this.isDone) return;
    if (!this.isHolding) {
      this.push(chunk);
      return;
    }
    this.held = Buffer.concat([this.held ?? NOTHING, chunk]);
    this.wire.pause();
  }

  ended(): void {
    this.fate = this.fate === 'open' ? 'ended' : this.fate;
    this.settleFate();
  }

  closed(kind: 'closed' | 'reset'): void {
    if (this.fate === 'open') this.fate = kind;
    this.settleFate();
  }

  private push(chunk: Buffer): void {
    this.handle(this.reader.push(chunk, this.take));
    if (this.isDone) return;
    if (this.isPaused) {
      this.wire.pause();
      this.parts.deadline.suspend();
    } else this.parts.deadline.restart(this.parts.idleMs);
  }

  private handle(step: BodyStep): void {
    if (step.kind === 'more') return;
    const sink = this.sink;
    this.sink = null;
    if (step.kind === 'end') {
      this.done(step.rest.length === 0);
      sink?.end(step.trailers);
    } else {
      this.done(false);
      sink?.fail(step.fault);
    }
  }

  /** Deals with the end of the wire once all bytes before it were taken. */
  private settleFate(): void {
    if (this.isDone || this.fate === 'open' || this.isHolding) return;
    if (this.fate === 'ended') {
      this.handle(this.reader.finish());
      return;
    }
    this.handle({ kind: 'fault', fault: { kind: this.fate, detail: 'the upstream cut the answer' } });
  }

  /** Nothing came for too long. */
  onIdle(): void {
    if (this.isHolding) {
      // Nobody has asked for the body yet, so its silence says nothing.
      this.parts.deadline.restart(this.parts.idleMs);
      return;
    }
    const fault: BodyFault = { kind: 'timeout', detail: `nothing came for ${this.parts.idleMs} ms` };
    this.handle({ kind: 'fault', fault });
  }

  /**
   * Gives the wire back, flowing: whoever has it next must see what the peer does. While the sink still holds lent
   * bytes the wire must not read on, so it is given back with the last of them.
   */
  private done(isClean: boolean): void {
    this.isDone = true;
    this.parts.deadline.suspend();
    const giveBack = (): void => {
      this.wire.resume();
      this.parts.onDone(isClean);
    };
    if (!this.isPaused) giveBack();
    else if (isClean) {
      this.wire.pause();
      this.release = giveBack;
    } else this.parts.onDone(false);
  }

  private takeRelease(): (() => void) | null {
    const release = this.release;
    this.release = null;
    return release;
  }
}
