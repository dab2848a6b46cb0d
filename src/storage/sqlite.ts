/**
 * SQLite as an Executor: one thread that writes, one that reads. Units that are asked for while others are being
 * committed wait and are committed together, so that a disk that takes its time for each commit slows nobody's rate.
 */
import type { Clock } from '../core/clock.js';
import type { Executor, SqlRow, Statement, Step, UnitResult } from './executor.js';
import { inTime, tooSlow } from './in-time.js';
import { StorageAway } from './ports.js';
import { errorOf, portable, resultOf } from './sqlite-errors.js';
import type { Outcome, ThreadSetup } from './sqlite-messages.js';
import { SqliteThread } from './sqlite-thread.js';

/** Units that may wait. */
const MOST_WAITING = 4096;
/** Reads that may be under way. */
const MOST_READS = 1024;
/** Units that are committed together. */
const MOST_TOGETHER = 256;
/** A copy of a big database takes as long as it takes. */
const BACKUP_MS = 30 * 60_000;

interface Waiting {
  readonly steps: readonly Step[];
  readonly settle: (outcome: Outcome | Error) => void;
  isGivenUp: boolean;
}

/** What an Executor needs. */
export interface SqliteParts {
  readonly path: string;
  readonly callMs: number;
  readonly clock: Clock;
}

type Role = ThreadSetup['role'];

/** A file as an Executor. */
export class SqliteExecutor implements Executor {
  private readonly threads = new Map<Role, Promise<SqliteThread>>();
  private waiting: Waiting[] = [];
  private isCommitting = false;
  private reads = 0;
  private isClosed = false;
  private whenIdle: (() => void) | null = null;

  private constructor(private readonly parts: SqliteParts) {}

  /** Opens the file and brings its tables up to date. @throws {StorageRefused | StorageAway} */
  static async open(parts: SqliteParts): Promise<SqliteExecutor> {
    const executor = new SqliteExecutor(parts);
    try {
      await executor.thread('writer');
      await executor.thread('reader');
      return executor;
    } catch (error) {
      await executor.endThreads();
      throw error;
    }
  }

  async read(statement: Statement): Promise<readonly SqlRow[]> {
    if (this.isClosed) throw closed();
    if (this.reads >= MOST_READS) throw new StorageAway('too much waits for the database');
    this.reads += 1;
    const asked = this.thread('reader')
      .then((thread) => thread.ask({ kind: 'read', statement: portable(statement) }))
      .finally(() => {
        this.reads -= 1;
        this.tellIdle();
      });
    const [outcome] = await this.inTime(asked);
    return settled(outcome).results[0]?.rows ?? [];
  }

  unit(steps: readonly Step[]): Promise<UnitResult> {
    if (this.isClosed) return Promise.reject(closed());
    if (this.waiting.length >= MOST_WAITING)
      return Promise.reject(new StorageAway('too much waits for the database'));
    return new Promise((resolve, reject) => {
      const timer = this.parts.clock.after(this.parts.callMs, () => {
        waiting.isGivenUp = true;
        reject(tooSlow(this.parts.callMs));
      });
      const waiting: Waiting = {
        steps: steps.map(portable),
        isGivenUp: false,
        settle: (outcome) => {
          timer.cancel();
          if (outcome instanceof Error) reject(outcome);
          else if (outcome.kind === 'failed') reject(errorOf(outcome));
          else if (outcome.kind === 'missed') resolve(outcome);
          else resolve(settled(outcome));
        },
      };
      this.waiting.push(waiting);
      if (!this.isCommitting) void this.commitWaiting();
    });
  }

  /** In a thread of its own, so that reads go on. */
  async backup(path: string): Promise<void> {
    const { path: from, callMs, clock } = this.parts;
    const thread = await SqliteThread.open({ path: from, role: 'reader', busyMs: callMs });
    try {
      const [outcome] = await inTime(thread.ask({ kind: 'backup', path }), BACKUP_MS, clock);
      settled(outcome);
    } finally {
      await thread.end();
    }
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    const isIdle = new Promise<void>((resolve) => (this.whenIdle = resolve));
    this.tellIdle();
    await this.inTime(isIdle).catch(() => undefined);
    for (const role of ['reader', 'writer'] as const) {
      const thread = await this.threads.get(role)?.catch(() => null);
      if (thread) await this.inTime(thread.ask({ kind: 'close' })).catch(() => undefined);
    }
    await this.endThreads();
  }

  /** Sends what waits, portion by portion, until nothing does. */
  private async commitWaiting(): Promise<void> {
    this.isCommitting = true;
    while (this.waiting.length > 0) {
      const together = this.waiting.splice(0, MOST_TOGETHER).filter(({ isGivenUp }) => !isGivenUp);
      if (together.length > 0) await this.commit(together);
    }
    this.isCommitting = false;
    this.tellIdle();
  }

  private async commit(together: readonly Waiting[]): Promise<void> {
    try {
      const thread = await this.thread('writer');
      const outcomes = await thread.ask({ kind: 'units', units: together.map(({ steps }) => steps) });
      for (const [at, waiting] of together.entries()) waiting.settle(outcomes[at] ?? lostAnswer());
    } catch (error) {
      const away = error instanceof Error ? error : lostAnswer();
      for (const waiting of together) waiting.settle(away);
    }
  }

  /** The thread, started anew when it ended. */
  private async thread(role: Role): Promise<SqliteThread> {
    const known = this.threads.get(role);
    if (known !== undefined) {
      const thread = await known.catch(() => null);
      if (thread?.isGone === false) return thread;
      if (this.threads.get(role) !== known) return this.thread(role);
    }
    const { path, callMs } = this.parts;
    const opening = SqliteThread.open({ path, role, busyMs: Math.ceil(callMs / 2) });
    this.threads.set(role, opening);
    return opening;
  }

  private inTime<T>(promise: Promise<T>): Promise<T> {
    return inTime(promise, this.parts.callMs, this.parts.clock);
  }

  private tellIdle(): void {
    if (!this.isCommitting && this.waiting.length === 0 && this.reads === 0) this.whenIdle?.();
  }

  private async endThreads(): Promise<void> {
    for (const thread of this.threads.values()) await (await thread.catch(() => null))?.end();
  }
}

const closed = () => new StorageAway('the database was closed');
const lostAnswer = () => new StorageAway('the thread of the database gave no answer');

/** What was done, its bytes as Buffers. @throws what it failed with */
function settled(outcome: Outcome | undefined): Extract<UnitResult, { kind: 'done' }> {
  if (outcome?.kind === 'failed') throw errorOf(outcome);
  if (outcome?.kind !== 'done') throw lostAnswer();
  return { kind: 'done', results: outcome.results.map(resultOf) };
}
