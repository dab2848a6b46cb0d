/**
 * One sink of the audit and how far it has come: one batch at a time, in order, tried again after a growing pause. What
 * was dropped before a sink could take it is remembered as a gap, to be told of in the chain itself.
 */
import type { Clock, Timer } from '../core/clock.js';
import type { AlertEvent } from '../core/alert-events.js';
import type { AuditRow } from '../storage/ports.js';
import type { AuditBacklog } from './backlog.js';
import type { AuditSink, ChainHead } from './sink.js';

const firstPauseMs = 100;
const longestPauseMs = 1000;
/** After this a sink that has said nothing counts as failing. */
const hangMs = 2000;
/** Records that are written together. */
const batch = 1000;

/** Records that a sink will never have, and the hash of the last of them. */
export interface Gap {
  readonly from: number;
  readonly to: number;
  readonly hash: string;
}

/** Surroundings of a lane. */
export interface LaneParts {
  readonly clock: Clock;
  readonly backlog: AuditBacklog;
  readonly emit: (event: AlertEvent) => void;
  /** It has taken something, or may be asked again. */
  readonly onTurn: () => void;
}

/** One sink at work. */
export class AuditLane {
  /** Place of the last record that it has. */
  done = 0;
  failures = 0;
  isWorking = true;
  /** What is to be done before the next records, in order; each stays until it succeeds. */
  readonly chores: (() => Promise<void>)[] = [];
  private next = 1;
  private isBusy = false;
  private pauseMs = 0;
  private pause: Timer | null = null;
  private head: ChainHead | null = null;
  private gap: Gap | null = null;
  private healed: Gap | null = null;

  constructor(
    readonly sink: AuditSink,
    private readonly parts: LaneParts,
  ) {}

  get isFree(): boolean {
    return !this.isBusy && this.pause === null;
  }

  /** Whether all is written that there is. */
  get isIdle(): boolean {
    const isUpToDate = this.next > this.parts.backlog.last && this.head === null;
    return this.isFree && isUpToDate && this.chores.length === 0;
  }

  /** The first record that it hasn't taken. */
  get needs(): number {
    return this.next;
  }

  /** A gap that is behind it and that the chain doesn't tell of yet. */
  takeGap(): Gap | null {
    const { healed } = this;
    this.healed = null;
    return healed;
  }

  /** Writes this head down with the next records. */
  anchor(head: ChainHead): void {
    this.head = head;
  }

  /** Sets to work where it is free and something is to be done. */
  run(): void {
    if (!this.isFree || this.isIdle) return;
    this.isBusy = true;
    const { clock } = this.parts;
    const limit = clock.after(hangMs, () => this.turn('failing', 'no answer within 2 s'));
    this.work().then(
      () => this.ended(limit, null),
      (error: unknown) => this.ended(limit, error),
    );
  }

  private async work(): Promise<void> {
    for (let [chore] = this.chores; chore !== undefined; [chore] = this.chores) {
      await chore();
      this.chores.shift();
    }
    const rows = this.batch();
    if (rows.length > 0) {
      await this.sink.append(rows);
      this.done = rows.at(-1)?.n ?? this.done;
      this.next = this.done + 1;
      this.healed = this.gap;
      this.gap = null;
    }
    const { head } = this;
    if (head === null) return;
    await this.sink.anchor(head);
    if (this.head === head) this.head = null;
  }

  private batch(): readonly AuditRow[] {
    const { backlog } = this.parts;
    if (this.next < backlog.first) {
      this.gap = { from: this.gap?.from ?? this.next, to: backlog.first - 1, hash: backlog.hashBefore };
      this.next = backlog.first;
    }
    return backlog.from(this.next, batch);
  }

  private ended(limit: Timer, error: unknown): void {
    limit.cancel();
    this.isBusy = false;
    if (error === null) {
      this.pauseMs = 0;
      this.turn('working', '');
    } else {
      this.failures += 1;
      this.pauseMs = Math.min(longestPauseMs, Math.max(firstPauseMs, this.pauseMs * 2));
      this.pause = this.parts.clock.after(this.pauseMs, () => {
        this.pause = null;
        this.parts.onTurn();
      });
      this.turn('failing', reasonOf(error));
    }
    this.parts.onTurn();
  }

  private turn(state: 'failing' | 'working', reason: string): void {
    if (this.isWorking === (state === 'working')) return;
    this.isWorking = state === 'working';
    this.parts.emit({ type: 'audit_sink_turned', sink: this.sink.name, state, reason });
  }
}

/** A code, or the name of the error; its message may say more than a log should. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
