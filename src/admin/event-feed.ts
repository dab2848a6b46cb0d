/**
 * Events for whoever listens, as server-sent events. Each listener has a bounded queue; one that does not take what is
 * sent in time is dropped and counted, so that nobody can make the gateway remember for him.
 */
import type { Clock, Timer } from '../core/clock.js';
import type { TurnpikeEvent } from '../core/events.js';
import { scrub } from '../core/scrub.js';

/** Where events of one listener go: a socket, or a test. */
export interface Outlet {
  /** False when it is full; then nothing more is written until {@link Outlet.whenFree} calls. */
  write(text: string): boolean;
  whenFree(call: () => void): void;
  /** Ends it at once. */
  destroy(): void;
}

/** Bounds of a feed. */
export interface FeedLimits {
  readonly listeners: number;
  /** Events that wait for one listener. */
  readonly queue: number;
  /** How often a comment is sent, so that both sides see that the other is there. */
  readonly heartbeatMs: number;
}

const standard: FeedLimits = { listeners: 32, queue: 1000, heartbeatMs: 15_000 };

class Listener {
  private readonly queue: string[] = [];
  private isFull = false;

  constructor(
    readonly outlet: Outlet,
    readonly wanted: ReadonlySet<string> | null,
    private readonly most: number,
  ) {}

  /** False when it has fallen too far behind. */
  offer(text: string): boolean {
    if (!this.isFull) {
      this.write(text);
      return true;
    }
    if (this.queue.length >= this.most) return false;
    this.queue.push(text);
    return true;
  }

  private write(text: string): void {
    if (this.outlet.write(text)) return;
    this.isFull = true;
    this.outlet.whenFree(() => this.goOn());
  }

  private goOn(): void {
    this.isFull = false;
    while (!this.isFull && this.queue.length > 0) this.write(this.queue.shift() ?? '');
  }
}

/** The feed of one gateway. */
export class EventFeed {
  private readonly listeners = new Set<Listener>();
  private lastId = 0;
  private droppedCount = 0;
  private heartbeat: Timer | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly limits: FeedLimits = standard,
  ) {}

  /** Takes every event. Needs no `this`. */
  readonly subscribe = (event: TurnpikeEvent): void => {
    if (this.listeners.size === 0) return;
    let text: string | null = null;
    for (const listener of this.listeners) {
      if (listener.wanted?.has(event.type) === false) continue;
      text ??= this.textOf(event);
      this.offer(listener, text);
    }
  };

  get size(): number {
    return this.listeners.size;
  }

  /** Whether no more may listen. */
  get isFull(): boolean {
    return this.listeners.size >= this.limits.listeners;
  }

  /** Listeners that were dropped because they were too slow. */
  dropped(): number {
    return this.droppedCount;
  }

  /**
   * Begins to tell; ask {@link EventFeed.isFull} first.
   * @param wanted types of events; null for all
   * @returns how to end it
   */
  listen(outlet: Outlet, wanted: ReadonlySet<string> | null): () => void {
    const listener = new Listener(outlet, wanted, this.limits.queue);
    this.listeners.add(listener);
    this.offer(listener, ': listening\n\n');
    this.beat();
    return () => void this.listeners.delete(listener);
  }

  /** Ends all. */
  close(): void {
    this.heartbeat?.cancel();
    this.heartbeat = null;
    for (const listener of this.listeners) listener.outlet.destroy();
    this.listeners.clear();
  }

  private offer(listener: Listener, text: string): void {
    if (listener.offer(text)) return;
    this.listeners.delete(listener);
    this.droppedCount++;
    listener.outlet.destroy();
  }

  private beat(): void {
    if (this.heartbeat !== null) return;
    this.heartbeat = this.clock.after(this.limits.heartbeatMs, () => {
      this.heartbeat = null;
      for (const listener of this.listeners) this.offer(listener, ': heartbeat\n\n');
      if (this.listeners.size > 0) this.beat();
    });
  }

  private textOf(event: TurnpikeEvent): string {
    this.lastId++;
    const data = scrub(JSON.stringify({ time: this.clock.wallMs(), ...event }));
    return `id: ${this.lastId}\nevent: ${event.type}\ndata: ${data}\n\n`;
  }
}
