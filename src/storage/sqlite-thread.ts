/** The near end of a thread that holds a SQLite file: asks and gets outcomes; says when the thread is gone. */
import { Worker } from 'node:worker_threads';
import { StorageRefused } from './executor.js';
import { StorageAway } from './ports.js';
import type { FromThread, Outcome, ThreadSetup, ToThread } from './sqlite-messages.js';

interface Waiting {
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: Error) => void;
}

/** What is asked of a thread; it gets its number here. */
type Ask<Message = ToThread> = Message extends ToThread ? Omit<Message, 'id'> : never;

/** The compiled file; from the sources, where Node can't run them in a thread, that of the last build. */
function workerFile(): URL {
  const here = import.meta.url;
  return here.endsWith('.ts')
    ? new URL('../../dist/storage/sqlite-worker.js', here)
    : new URL('./sqlite-worker.js', here);
}

/** One thread with one connection. */
export class SqliteThread {
  /** Whether it ended, by itself or not. */
  isGone = false;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;

  private constructor(private readonly worker: Worker) {
    worker.unref();
    worker.on('message', (message: FromThread) => {
      if (message.kind !== 'answer') return;
      const waiting = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (this.waiting.size === 0) worker.unref();
      waiting?.resolve(message.outcomes);
    });
    worker.on('exit', () => this.gone(null));
    worker.on('error', (error) => this.gone(error));
  }

  /** Starts a thread; resolves once it has the file open. @throws {StorageRefused | StorageAway} */
  static open(setup: ThreadSetup): Promise<SqliteThread> {
    const worker = new Worker(workerFile(), { workerData: setup, execArgv: [] });
    const thread = new SqliteThread(worker);
    worker.ref();
    return new Promise((resolve, reject) => {
      worker.once('message', (message: FromThread) => {
        worker.unref();
        if (message.kind === 'refused') {
          reject(new StorageRefused(message.why, message.message));
          void worker.terminate();
        } else resolve(thread);
      });
      const lost = (error?: unknown) =>
        reject(new StorageAway('the thread of the database ended at its start', { cause: error }));
      worker.once('error', lost);
      worker.once('exit', () => lost());
    });
  }

  /** Asks; keeps the process alive until the answer is there. Rejects with StorageAway when the thread ends first. */
  ask(message: Ask): Promise<readonly Outcome[]> {
    if (this.isGone) return Promise.reject(new StorageAway('the thread of the database ended'));
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.ref();
      this.worker.postMessage({ ...message, id });
    });
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }

  private gone(cause: unknown): void {
    this.isGone = true;
    const left = [...this.waiting.values()];
    this.waiting.clear();
    for (const { reject } of left) reject(new StorageAway('the thread of the database ended', { cause }));
  }
}
