/**
 * The audit of one gateway process: numbers and chains what happened, and lets what needs a record go on only when at
 * least one sink has it durably. It decides in which order and how together records are written; how a chain is hashed
 * (`audit-chain.ts`) and how a sink writes are none of its business.
 */
import { afterTurn, type Clock, type Timer } from '../core/clock.js';
import type { Random } from '../core/random.js';
import type { AuditRefused, AlertEvent } from '../core/alert-events.js';
import { AuditBacklog } from './backlog.js';
import { ChainWriter } from './chain.js';
import { AuditUnavailable, type Audit, type AuditEntry } from './entry.js';
import { AuditLane } from './lane.js';
import { sinksOpened, type KnownChains } from './opening.js';
import type { AuditSink } from './sink.js';

/** Surroundings of an audit. */
export interface AuditParts {
  /** At least one. */
  readonly sinks: readonly AuditSink[];
  /** The 32 bytes that the chain is keyed with (`vault.subKey('audit')`). Throws while the vault is sealed. */
  readonly key: () => Buffer;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (event: AlertEvent) => void;
}

/** How a sink does. */
export interface SinkFigures {
  readonly sink: 'database' | 'file';
  readonly isWorking: boolean;
  readonly failures: number;
  /** Records that it has not taken yet. */
  readonly behind: number;
}

/** For metrics and `/status`. */
export interface AuditFigures {
  readonly recorded: number;
  readonly refused: number;
  readonly waiting: number;
  readonly sinks: readonly SinkFigures[];
}

/** The audit of one gateway process. */
export interface AuditLog extends Audit {
  figures(): AuditFigures;
  /** Opens the file anew, after it was moved away. */
  reopen(): void;
  /** Writes what waits, for two seconds at most, and closes the sinks. */
  close(): Promise<void>;
}

/** A record is refused after this; whoever asked hears of it within 2 s. */
const patienceMs = 1800;
/** Those that would be refused within this time are refused together. */
const togetherMs = 25;
const closeMs = 2000;
const mostWaiting = 10_000;
/** Numbered records that no sink has yet; more wait without a number, and vanish without a trace when they are refused. */
const mostUnconfirmed = 1000;
/** Records that are kept for a sink that fails while another works. */
const mostKept = 10_000;
const anchorEvery = 1000;
const anchorMs = 60_000;

interface Waiting {
  readonly entry: AuditEntry;
  readonly untilMs: number;
  readonly settle: ((error: AuditUnavailable | null) => void) | null;
  /** Place in the chain; 0 until it has one. */
  n: number;
}

/** Makes the audit and opens its sinks; records wait until one is open. */
export function openAuditLog(parts: AuditParts): AuditLog {
  return new ChainedAudit(parts);
}

class ChainedAudit implements AuditLog {
  private readonly backlog = new AuditBacklog();
  private readonly lanes: readonly AuditLane[];
  private writer: ChainWriter | null = null;
  private waiting: Waiting[] = [];
  /** Numbered, not confirmed; in order. */
  private numbered: Waiting[] = [];
  private confirmed = 0;
  private anchored = 0;
  private recorded = 0;
  private refused = 0;
  private unused: { from: number; to: number } | null = null;
  private before: KnownChains | null = null;
  private isPumpDue = false;
  private isClosed = false;
  private deadline: Timer | null = null;
  private anchorTimer: Timer | null = null;
  private whenIdle: (() => void) | null = null;

  constructor(private readonly parts: AuditParts) {
    const { clock, emit, sinks } = parts;
    const onTurn = (): void => this.pump();
    this.lanes = sinks.map((sink) => new AuditLane(sink, { clock, backlog: this.backlog, emit, onTurn }));
    sinksOpened(this.lanes, clock, (before) => this.opened(before));
  }

  record(entry: AuditEntry): Promise<void> {
    if (this.isClosed) return this.refuse(entry, 'closed');
    if (this.writer === null && !this.hasKey()) return this.refuse(entry, 'sealed');
    if (this.waiting.length >= mostWaiting) return this.refuse(entry, 'full');
    return new Promise((resolve, reject) => {
      const settle = (error: AuditUnavailable | null): void => (error === null ? resolve() : reject(error));
      this.waiting.push({ entry, untilMs: this.parts.clock.nowMs() + patienceMs, settle, n: 0 });
      this.deadline ??= this.parts.clock.after(patienceMs, () => this.expire());
      this.pumpSoon();
    });
  }

  figures(): AuditFigures {
    const last = this.backlog.last;
    const sinks = this.lanes.map(({ sink, isWorking, failures, needs }) => ({
      ...{ sink: sink.name, isWorking, failures, behind: Math.max(0, last - needs + 1) },
    }));
    const waiting = this.waiting.length + this.numbered.length;
    return { recorded: this.recorded, refused: this.refused, waiting, sinks };
  }

  reopen(): void {
    for (const { sink } of this.lanes) sink.reopen();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    if (this.writer !== null) this.note('audit.stop', {});
    await new Promise<void>((resolve) => {
      const limit = this.parts.clock.after(closeMs, resolve);
      this.whenIdle = () => {
        // The last anchor names the last record.
        if (this.anchor()) return;
        limit.cancel();
        resolve();
      };
      this.pump();
    });
    this.deadline?.cancel();
    this.anchorTimer?.cancel();
    for (const each of [...this.numbered, ...this.waiting]) each.settle?.(new AuditUnavailable('closed'));
    // One that hangs is left to the end of the process.
    await Promise.all(this.lanes.filter(({ isFree }) => isFree).map(({ sink }) => sink.close()));
  }

  /** A sink was opened: what it knows of chains before. */
  private opened(before: KnownChains): void {
    if (this.backlog.last === 0) this.before = { ...this.before, ...before };
    else this.note('audit.heads', { before });
    this.pump();
  }

  private hasKey(): boolean {
    try {
      this.writer = new ChainWriter(this.parts.key(), this.parts.random.hex(8));
      return true;
    } catch {
      return false;
    }
  }

  private pumpSoon(): void {
    if (this.isPumpDue) return;
    this.isPumpDue = true;
    // What comes in the same turn of the loop goes together; what comes while sinks are busy waits for the first one.
    afterTurn(() => {
      this.isPumpDue = false;
      this.pump();
    });
  }

  private pump(): void {
    if (this.before === null) return;
    this.confirm();
    if (this.lanes.some(({ isFree }) => isFree)) this.number();
    for (const lane of this.lanes) lane.run();
    if (this.whenIdle !== null && this.waiting.length === 0 && this.lanes.every(({ isIdle }) => isIdle))
      this.whenIdle();
  }

  /** Gives places to what waits. */
  private number(): void {
    const { writer, parts } = this;
    if (writer === null || this.waiting.length === 0) return;
    const add = (entry: AuditEntry): number => {
      const row = writer.next(entry, parts.clock.wallMs());
      this.backlog.add(row);
      return row.n;
    };
    if (writer.last.n === 0) add(chainEntry('audit.start', { before: this.before }));
    const room = mostUnconfirmed - (this.backlog.last - this.confirmed);
    for (const each of this.waiting.splice(0, Math.max(0, room))) {
      each.n = add(each.entry);
      this.numbered.push(each);
    }
  }

  /** Lets go on what some sink has. */
  private confirm(): void {
    const done = Math.max(...this.lanes.map((lane) => lane.done));
    if (done > this.confirmed) {
      this.confirmed = done;
      let count = 0;
      for (; (this.numbered[count]?.n ?? Infinity) <= done; count++) this.numbered[count]?.settle?.(null);
      this.numbered.splice(0, count);
      this.recorded += count;
      this.anchorWhenDue();
      if (this.unused !== null && this.unused.to <= done) {
        this.note('audit.unused', { ...this.unused });
        this.unused = null;
      }
    }
    for (const lane of this.lanes) {
      const gap = lane.takeGap();
      if (gap !== null) this.note('audit.gap', { sink: lane.sink.name, ...gap });
    }
    const taken = Math.min(...this.lanes.map(({ needs }) => needs)) - 1;
    this.backlog.dropTo(Math.max(taken, Math.min(this.confirmed, this.backlog.last - mostKept)));
  }

  private anchorWhenDue(): void {
    if (this.confirmed - this.anchored >= anchorEvery) this.anchor();
    else this.anchorTimer ??= this.parts.clock.after(anchorMs, () => void this.anchor());
  }

  /** Has the other sink, or the log where there is none, keep how far the chain has come; false: it is known. */
  private anchor(): boolean {
    this.anchorTimer?.cancel();
    this.anchorTimer = null;
    const row = this.backlog.at(this.confirmed) ?? null;
    const hash = row?.hash ?? (this.backlog.first === this.confirmed + 1 ? this.backlog.hashBefore : '');
    if (this.writer === null || hash === '' || this.confirmed === this.anchored) return false;
    const { chain } = this.writer;
    this.anchored = this.confirmed;
    const head = { chain, n: this.confirmed, hash, atMs: this.parts.clock.wallMs() };
    for (const lane of this.lanes) lane.anchor(head);
    if (this.lanes.length === 1) this.parts.emit({ type: 'audit_anchored', chain, n: this.confirmed, hash });
    this.pumpSoon();
    return true;
  }

  /** Refuses what has waited too long. */
  private expire(): void {
    this.deadline = null;
    const now = this.parts.clock.nowMs();
    const isLate = ({ untilMs }: Waiting): boolean => untilMs <= now + togetherMs;
    for (const each of [...this.numbered.filter(isLate), ...this.waiting.filter(isLate)]) {
      if (each.n > 0) this.unused = { from: this.unused?.from ?? each.n, to: each.n };
      this.tellRefused(each.entry, 'late');
      each.settle?.(new AuditUnavailable('no sink of the audit took the record in time'));
    }
    this.numbered = this.numbered.filter((each) => !isLate(each));
    this.waiting = this.waiting.filter((each) => !isLate(each));
    const next = [...this.numbered, ...this.waiting].find(({ untilMs }) => untilMs < Infinity);
    if (next !== undefined) this.deadline = this.parts.clock.after(next.untilMs - now, () => this.expire());
  }

  private refuse(entry: AuditEntry, reason: AuditRefused['reason']): Promise<never> {
    this.tellRefused(entry, reason);
    return Promise.reject(new AuditUnavailable(`the audit takes no record: ${reason}`));
  }

  private tellRefused({ action }: AuditEntry, reason: AuditRefused['reason']): void {
    this.refused += 1;
    this.parts.emit({ type: 'audit_refused', action, reason });
  }

  /** A record of the audit about itself; nobody waits for it. */
  private note(action: string, detail: NonNullable<AuditEntry['detail']>): void {
    this.waiting.push({ entry: chainEntry(action, detail), untilMs: Infinity, settle: null, n: 0 });
    this.pumpSoon();
  }
}

function chainEntry(action: string, detail: NonNullable<AuditEntry['detail']>): AuditEntry {
  return { action, actor: 'system', outcome: 'ok', detail };
}
