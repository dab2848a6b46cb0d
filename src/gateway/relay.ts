/**
 * Two wires and nothing between: bytes go both ways as they come, a FIN is passed on, and neither side is read faster
 * than the other takes. Ends by itself when both sides ended, or at a limit.
 */
import type { ByteMeter } from '../access/rate-limit.js';
import type { Deadline, TimerWheel } from '../core/timer-wheel.js';
import type { TunnelEnd } from '../outcome/tunnel-signs.js';
import { NOBODY, type Wire, type WireReader } from '../open/wire.js';

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
  /** First byte either way; -1 before it. */
  private firstIn = -1;
  private firstOut = -1;
  /** The side that ended first. */
  private firstEnd: Wire | null = null;
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
      /** Counts its bytes against the client, where that has a limit of them. */
      readonly meter: ByteMeter | null;
      /** Id of the exit that it goes by, and the site that it leads to. */
      readonly exit: string;
      readonly site: string;
      readonly wheel: TimerWheel;
      readonly limits: RelayLimits;
      /** Given the first byte from the far side. */
      readonly onFirstAnswer: (first: number) => void;
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

  /** What its bytes and its end showed. */
  get ended(): TunnelEnd {
    const { bytesIn, bytesOut, firstIn, firstOut } = this;
    return { bytesIn, bytesOut, firstIn, firstOut, isFarEnd: this.firstEnd === this.upstream };
  }

  /** Sends what each side said before the relay stood, then lets both flow. */
  start(early: readonly Buffer[], rest: Buffer): void {
    const there = new Way(this, this.client, this.upstream);
    const back = new Way(this, this.upstream, this.client);
    for (const chunk of early) there.bytes(chunk);
    if (rest.length > 0) back.bytes(rest);
    there.flow();
    back.flow();
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

  /** @internal Bytes go by; false when the client may have no more, and both sides were cut. */
  passed(from: Wire, chunk: Buffer): boolean {
    const bytes = chunk.length;
    this.idle.restart(this.idleMs);
    if (from === this.client) {
      if (this.bytesIn === 0) this.firstIn = chunk[0] ?? -1;
      this.bytesIn += bytes;
    } else {
      if (this.bytesOut === 0) {
        this.firstOut = chunk[0] ?? -1;
        this.parts.onFirstAnswer(this.firstOut);
      }
      this.bytesOut += bytes;
    }
    if (this.parts.meter?.(bytes) !== false) return true;
    this.cut('cut_by_policy');
    return false;
  }

  /** @internal One side has sent its last byte. */
  halfEnded(from: Wire): void {
    this.firstEnd ??= from;
    this.idle.restart(this.idleMs);
  }

  /** @internal One wire is closed. */
  closed(from: Wire, to: Wire, error: Error | null): void {
    this.firstEnd ??= from;
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

/** One direction of a relay. A class and no closures: there may be tens of thousands, most of them idle. */
class Way implements WireReader {
  private goOn: (() => void) | null = null;

  constructor(
    private readonly relay: Relay,
    private readonly from: Wire,
    private readonly to: Wire,
  ) {
    from.reader = this;
  }

  bytes(chunk: Buffer): void {
    if (!this.relay.passed(this.from, chunk) || this.to.write(chunk)) return;
    this.from.pause();
    this.goOn ??= () => this.from.resume();
    this.to.whenFlushed(this.goOn);
  }

  ended(): void {
    this.to.end();
    this.relay.halfEnded(this.from);
  }

  closed(error: Error | null): void {
    this.from.reader = NOBODY;
    this.relay.closed(this.from, this.to, error);
  }

  /**
   * Reads on as soon as the other side took what it was sent, the head that opened the relay included; a side that was
   * read to its end before passes its FIN on now.
   */
  flow(): void {
    if (this.from.isClosed) this.closed(null);
    else if (this.from.hasEnded) this.to.end();
    else if (this.to.hasUnsent) this.to.whenFlushed(() => this.from.resume());
    else this.from.resume();
  }
}
