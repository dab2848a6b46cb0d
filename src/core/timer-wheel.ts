/**
 * One wheel for all deadlines of all sockets: arming, pushing back and calling off cost a few nanoseconds each,
 * where a timer per socket and phase would cost microseconds. Precision is one tick (50 ms), always late, never early.
 *
 * A deadline that is pushed back or suspended isn't moved: it is looked at when its old slot comes up, and filed again
 * or dropped. So a deadline that an object keeps and restarts for each of its waits costs next to nothing.
 */
import type { Clock, Timer } from './clock.js';

const TICK_MS = 50;
const SLOTS = 512;

/** A deadline on the wheel. */
export interface Deadline {
  /** Moves the deadline to `ms` from now; also arms one that has fired or was called off. */
  restart(ms: number): void;
  /** Calls it off for now: cheap, for a deadline that will be restarted. It stays filed until its slot comes up. */
  suspend(): void;
  /** Calls it off for good. */
  cancel(): void;
}

class Entry implements Deadline {
  dueMs = Infinity;
  slot = -1;
  constructor(
    private readonly wheel: TimerWheel,
    readonly fire: () => void,
  ) {}

  restart(ms: number): void {
    this.wheel.file(this, ms);
  }

  suspend(): void {
    this.dueMs = Infinity;
  }

  cancel(): void {
    this.dueMs = Infinity;
    if (this.slot >= 0) this.wheel.unfile(this);
  }
}

/** Deadlines for everything that waits on the data plane. */
export class TimerWheel {
  private readonly slots: Set<Entry>[] = Array.from({ length: SLOTS }, () => new Set<Entry>());
  private readonly clock: Clock;
  private cursor = 0;
  private cursorMs: number;
  private filed = 0;
  private ticking: Timer | null = null;

  constructor(clock: Clock) {
    this.clock = clock;
    this.cursorMs = clock.nowMs();
  }

  /** Calls `fire` once, `ms` from now at the earliest and a tick (50 ms) later at the latest. */
  arm(ms: number, fire: () => void): Deadline {
    const entry = new Entry(this, fire);
    this.file(entry, ms);
    return entry;
  }

  /** A deadline that is armed by its first restart. */
  idle(fire: () => void): Deadline {
    return new Entry(this, fire);
  }

  /** How many deadlines the wheel still holds; suspended ones count until their slot comes up. */
  get size(): number {
    return this.filed;
  }

  /** @internal Used by {@link Deadline.restart}. */
  file(entry: Entry, ms: number): void {
    const now = this.clock.nowMs();
    if (this.filed === 0) this.cursorMs = now;
    entry.dueMs = now + ms;
    if (entry.slot >= 0) {
      if (this.msUntilSlot(entry.slot) <= entry.dueMs - this.cursorMs + TICK_MS) return;
      this.unfile(entry);
    }
    this.place(entry);
    this.ticking ??= this.clock.after(TICK_MS, () => this.tick());
  }

  private place(entry: Entry): void {
    const ticks = Math.ceil((entry.dueMs - this.cursorMs) / TICK_MS);
    entry.slot = (this.cursor + Math.min(Math.max(ticks, 1), SLOTS - 1)) % SLOTS;
    this.slots[entry.slot]?.add(entry);
    this.filed++;
  }

  /** @internal Used by {@link Deadline.cancel}. */
  unfile(entry: Entry): void {
    this.slots[entry.slot]?.delete(entry);
    entry.slot = -1;
    this.filed--;
  }

  private msUntilSlot(slot: number): number {
    return ((slot - this.cursor + SLOTS) % SLOTS) * TICK_MS;
  }

  private tick(): void {
    this.ticking = null;
    const now = this.clock.nowMs();
    while (this.cursorMs + TICK_MS <= now && this.filed > 0) {
      this.cursor = (this.cursor + 1) % SLOTS;
      this.cursorMs += TICK_MS;
      this.visit(this.slots[this.cursor]);
    }
    if (this.filed > 0) this.ticking ??= this.clock.after(TICK_MS, () => this.tick());
  }

  private visit(slot: Set<Entry> | undefined): void {
    if (slot === undefined) return;
    for (const entry of [...slot]) {
      this.unfile(entry);
      if (entry.dueMs === Infinity) continue;
      if (entry.dueMs > this.cursorMs) this.place(entry);
      else {
        entry.dueMs = Infinity;
        entry.fire();
      }
    }
  }
}
