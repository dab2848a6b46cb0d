/**
 * Two wires and nothing between: bytes go both ways as they come, a FIN is passed on, and neither side is read faster
 * than the other takes. Ends by itself when both sides ended, or at a limit.
 */
import type { Deadline, TimerWheel } from '../core/timer-wheel.js';
import { NOBODY, type Wire } from '../open/wire.js';

/** How long a client may take for what is unsent when its relay is cut. */
const CUT_GRACE_MS = 2000;

/** Limits of a relay, in milliseconds. */
export interface RelayLimits {
  readonly idleMs: number;
  readonly lifetimeMs: number;
  /** How long one side may go on after the other has ended. */
  readonly halfCloseMs: number;
}

/** How a relay ended. */
export type RelayEnd =
  | 'complete'
  | 'client_gone'
  | 'upstream_cut'
  | 'timeout'
  | 'cut_by_drain'
  /** Its exit was banned or removed, its client removed, or the client has used up what it may. */
  | 'cut_by_policy';

/** A relay under way, or over. */
export class Relay {
  /** From the client, and to it. */
  bytesIn = 0;
  bytesOut = 0;
  private readonly idle: Deadline;
  private readonly lifetime: Deadline;
  private end: RelayEnd | null = null;
  private idleEnd: RelayEnd = 'timeout';
  private longestIdleMs: number;
  private openSides = 2;

  /** @param onEnd called once, when both wires are closed. */
  constructor(
    private readonly client: Wire,
    private readonly upstream: Wire,
    private readonly parts: {
      /** Name of the client that it belongs to. */
      readonly owner: string;
      /** Id of the exit that it goes by, and the site that it leads to. */
      readonly exit: string;
      readonly site: string;
      readonly wheel: TimerWheel;
      readonly limits: RelayLimits;
      readonly onFirstAnswer: () => void;
      readonly onEnd: (end: RelayEnd) => void;
    },
  ) {
    this.longestIdleMs = parts.limits.idleMs;
    this.idle = parts.wheel.arm(parts.limits.idleMs, () => this.onIdle());
    this.lifetime = parts.wheel.arm(parts.limits.lifetimeMs, () => this.cut('timeout'));
  }

  /** Name of the client that it belongs to. */
  get owner(): string {
    return this.parts.owner;
  }

  /** Id of the exit that it goes by. */
  get exit(): string {
    return this.parts.exit;
  }

  get site(): string {
    return this.parts.site;
  }

  /** Sends what each side said before the relay stood, then lets both flow. */
  start(early: readonly Buffer[], rest: Buffer): void {
    this.join(this.client, this.upstream, (count) => {
      this.bytesIn += count;
    });
    this.join(this.upstream, this.client, (count) => {
      if (this.bytesOut === 0) this.parts.onFirstAnswer();
      this.bytesOut += count;
    });
    for (const chunk of early) this.client.reader.bytes(chunk);
    if (rest.length > 0) this.upstream.reader.bytes(rest);
    this.flow(this.client, this.upstream);
    this.flow(this.upstream, this.client);
  }

  /** Ends both sides at once; a client that does not take what is unsent is reset two seconds later. */
  cut(end: RelayEnd): void {
    this.end ??= end;
    this.idle.restart(CUT_GRACE_MS);
    this.client.endAndClose();
    this.upstream.destroy();
  }

  /** Ends both sides as soon as neither has said anything for `idleMs`. */
  cutWhenIdle(end: RelayEnd, idleMs: number): void {
    this.idleEnd = end;
    this.longestIdleMs = Math.min(idleMs, this.longestIdleMs);
    this.idle.restart(this.idleMs);
  }

  /** Ends both sides by reset: they were given their time. */
  destroy(): void {
    this.client.reset();
    this.upstream.reset();
  }

  /** How long neither side may say anything: less when one of them has ended. */
  private get idleMs(): number {
    const isHalf = this.client.hasEnded || this.upstream.hasEnded;
    return isHalf ? Math.min(this.parts.limits.halfCloseMs, this.longestIdleMs) : this.longestIdleMs;
  }

  private onIdle(): void {
    if (this.end === null) this.cut(this.idleEnd);
    else this.destroy();
  }

  private join(from: Wire, to: Wire, count: (bytes: number) => void): void {
    const goOn = (): void => from.resume();
    from.reader = {
      bytes: (chunk) => {
        count(chunk.length);
        this.idle.restart(this.idleMs);
        if (to.write(chunk)) return;
        from.pause();
        to.whenFlushed(goOn);
      },
      ended: () => {
        to.end();
        this.idle.restart(this.idleMs);
      },
      closed: (error) => this.onClosed({ from, to, error }),
    };
  }

  /** Reads on unless bytes of this side still wait; a side that was read to its end before passes its FIN on now. */
  private flow(from: Wire, to: Wire): void {
    if (from.isClosed) this.onClosed({ from, to, error: null });
    else if (from.hasEnded) to.end();
    else if (!to.hasUnsent) from.resume();
  }

  private onClosed(side: { from: Wire; to: Wire; error: Error | null }): void {
    const { from, to, error } = side;
    from.reader = NOBODY;
    if (this.end === null && (error !== null || !from.hasEnded)) {
      this.end = from === this.client ? 'client_gone' : 'upstream_cut';
    }
    if (!to.isClosed) {
      if (error !== null && !to.hasUnsent) to.reset();
      else to.endAndClose();
    }
    if (--this.openSides > 0) return;
    this.idle.cancel();
    this.lifetime.cancel();
    this.parts.onEnd(this.end ?? 'complete');
  }
}
