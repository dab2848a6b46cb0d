/**
 * Requests that wait for an exit to come free or to have rested: one line for each route and site, fair between clients;
 * those that need an exit of their own have queues of their own, so that nobody else waits behind them. Whoever comes
 * while others wait waits behind them. It decides who is served next and when to look again, and doesn't know what is
 * looked for.
 */
import type { Clock, Timer } from '../core/clock.js';
import { FairLine } from '../facts/fair-line.js';

/** What a look brought: the thing waited for, or when it makes sense to look again. */
export type Look<Found> =
  { readonly kind: 'found'; readonly found: Found } | { readonly kind: 'later'; readonly afterMs: number };

/** Someone who waits. */
export interface Waiter<Found> {
  readonly client: string;
  /** What it needs that others don't, such as the exit of its session; empty: any exit will do. Served apart. */
  readonly need: string;
  /** Monotonic time at which it gives up. */
  readonly giveUpMs: number;
  /** Goes before the others of its client: it has been served once and has to try again. */
  readonly isAgain: boolean;
  /**
   * @param nowMs the time to judge by: one for a whole round, or an exit that has rested a moment too late for the one
   *   whose turn it is would go to the next
   */
  look(nowMs: number): Look<Found>;
  /** Calls `leave` when the one who waits is gone. */
  onGone(leave: (() => void) | null): void;
}

interface Entry<Found> {
  readonly waiter: Waiter<Found>;
  readonly done: (found: Found | null) => void;
}

interface Line<Found> {
  readonly key: string;
  readonly fair: FairLine<Entry<Found>>;
  timer: Timer | null;
  /** Whether the timer is for the next moment already. */
  isSoon: boolean;
}

/** Nothing tells that a ban was lifted or an exit came free for another line, so at least this often is looked. */
const LOOK_AGAIN_MS = 50;
/** Whoever was served must have begun before the next look, or both would take the same exit. */
const NEXT_MS = 1;

/** All lines. */
export class WaitingLines<Found> {
  readonly #lines = new Map<string, Line<Found>>();
  #waiting = 0;

  constructor(private readonly clock: Clock) {}

  /** How many wait altogether. */
  get size(): number {
    return this.#waiting;
  }

  /** Whether somebody waits in this line. */
  has(key: string): boolean {
    return this.#waiting > 0 && this.#lines.has(key);
  }

  /**
   * Waits for its turn, and for what it looks for. Null when it gave up or left.
   * @param firstLookMs when looking makes sense at the earliest, from now
   */
  wait(key: string, waiter: Waiter<Found>, firstLookMs: number): Promise<Found | null> {
    return new Promise((resolve) => {
      const line = this.#lineOf(key);
      const queue = `${waiter.client}\n${waiter.need}`;
      let isDone = false;
      const done = (found: Found | null): void => {
        if (isDone) return;
        isDone = true;
        patience.cancel();
        waiter.onGone(null);
        resolve(found);
      };
      const entry: Entry<Found> = { waiter, done };
      const leave = (): void => {
        if (line.fair.remove(queue, entry)) this.#left(line);
        done(null);
      };
      const patience = this.clock.after(Math.max(0, waiter.giveUpMs - this.clock.nowMs()), leave);
      waiter.onGone(leave);
      line.fair.add(queue, entry, waiter.isAgain ? 'head' : 'end');
      this.#waiting++;
      this.#lookAfter(line, firstLookMs);
    });
  }

  /** Something that this line may have has come free. */
  freed(key: string): void {
    const line = this.#waiting > 0 ? this.#lines.get(key) : undefined;
    if (line === undefined || line.isSoon) return;
    line.timer?.cancel();
    line.timer = null;
    this.#lookAfter(line, NEXT_MS);
  }

  #lineOf(key: string): Line<Found> {
    let line = this.#lines.get(key);
    if (line === undefined) {
      line = { key, fair: new FairLine<Entry<Found>>(), timer: null, isSoon: false };
      this.#lines.set(key, line);
    }
    return line;
  }

  #lookAfter(line: Line<Found>, ms: number): void {
    if (line.timer !== null) return;
    line.isSoon = ms <= NEXT_MS;
    line.timer = this.clock.after(Math.min(Math.max(ms, NEXT_MS), LOOK_AGAIN_MS), () => {
      line.timer = null;
      line.isSoon = false;
      this.#serve(line);
    });
  }

  /** Serves one, and looks again soon for the next. */
  #serve(line: Line<Found>): void {
    let served: { readonly entry: Entry<Found>; readonly found: Found } | null = null;
    let afterMs = LOOK_AGAIN_MS;
    const nowMs = this.clock.nowMs();
    line.fair.serve((entry) => {
      if (served !== null) return false;
      const look = entry.waiter.look(nowMs);
      if (look.kind === 'found') served = { entry, found: look.found };
      else afterMs = Math.min(afterMs, look.afterMs);
      return look.kind === 'found';
    });
    const winner = served as { readonly entry: Entry<Found>; readonly found: Found } | null;
    if (winner !== null) {
      this.#left(line);
      winner.entry.done(winner.found);
    }
    if (line.fair.length > 0) this.#lookAfter(line, winner === null ? afterMs : NEXT_MS);
  }

  #left(line: Line<Found>): void {
    this.#waiting--;
    this.#dropIfEmpty(line);
  }

  #dropIfEmpty(line: Line<Found>): void {
    if (line.fair.length > 0) return;
    line.timer?.cancel();
    line.timer = null;
    this.#lines.delete(line.key);
  }
}
