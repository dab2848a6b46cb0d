/** The near end of the worker that judges what takes long: one thread, started when it is wanted, ended when it hangs. */
import { Worker } from 'node:worker_threads';
import type { RuleHit } from '../outcome/rule-sights.js';
import type { RuleBook } from '../outcome/rules.js';
import type { Clock, Timer } from '../core/clock.js';
import type { BodyJob, Judgement } from './judge-body.js';
import type { WorkerAnswer, WorkerAsk, WorkerSetup } from './judge-worker.js';

/** Bodies that may wait at once; one more is not looked at. */
const MOST_WAITING = 64;
/** Longest time for one body, with those before it. */
const MOST_MS = 1000;

const busy: Judgement = { kind: 'not_inspected', why: 'too_busy' };
const slow: Judgement = { kind: 'not_inspected', why: 'too_slow' };

interface Waiting {
  readonly job: BodyJob;
  readonly resolve: (judgement: Judgement) => void;
  readonly timer: Timer;
}

/** The compiled file; from the sources, where Node can't run them in a thread, that of the last build. */
function workerFile(): URL {
  const here = import.meta.url;
  return here.endsWith('.ts')
    ? new URL('../../dist/gateway/judge-worker.js', here)
    : new URL('./judge-worker.js', here);
}

/** Judges in a thread of its own. */
export class JudgeWorker {
  private worker: Worker | null = null;
  /** Whose rules the thread has. */
  private book: RuleBook | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;

  constructor(private readonly clock: Clock) {}

  /** Never rejects: a body that can't be judged in time is not inspected. */
  judge(job: BodyJob): Promise<Judgement> {
    if (this.waiting.size >= MOST_WAITING) return Promise.resolve(busy);
    if (this.book !== job.book) this.restart(null);
    const worker = (this.worker ??= this.start(job.book));
    const id = ++this.lastId;
    return new Promise((resolve) => {
      const timer = this.clock.after(MOST_MS, () => this.restart(slow));
      this.waiting.set(id, { job, resolve, timer });
      worker.postMessage(askOf(id, job));
    });
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    const { worker } = this;
    this.restart(busy);
    await worker?.terminate();
  }

  private start(book: RuleBook): Worker {
    const setup: WorkerSetup = { specs: book.compiled.specs, lookAt: book.lookAt };
    const worker = new Worker(workerFile(), {
      workerData: setup,
      resourceLimits: { maxOldGenerationSizeMb: 64 },
    });
    worker.unref();
    worker.on('message', (answer: WorkerAnswer) => this.answered(answer));
    worker.on('error', () => {
      if (this.worker === worker) this.restart(slow);
    });
    this.book = book;
    return worker;
  }

  private answered(answer: WorkerAnswer): void {
    const waiting = this.waiting.get(answer.id);
    if (waiting === undefined) return;
    this.waiting.delete(answer.id);
    waiting.timer.cancel();
    waiting.resolve(judgementOf(answer, waiting.job));
  }

  /** Ends the thread; what waits for it gets this judgement, or too_busy where the rules changed. */
  private restart(judgement: Judgement | null): void {
    const { worker } = this;
    this.worker = null;
    this.book = null;
    void worker?.terminate();
    const left = [...this.waiting.values()];
    this.waiting.clear();
    for (const { resolve, timer } of left) {
      timer.cancel();
      resolve(judgement ?? busy);
    }
  }
}

function askOf(id: number, job: BodyJob): WorkerAsk {
  const { head } = job.stage;
  const { fields, ...rest } = head;
  return {
    id,
    place: { host: job.place.host, site: job.place.site },
    head: { ...rest, fields: fields.pairs() },
    raw: job.raw,
    coding: job.coding,
    isWhole: job.isWhole,
  };
}

function judgementOf(answer: WorkerAnswer, job: BodyJob): Judgement {
  if (answer.kind === 'not_inspected') return { kind: 'not_inspected', why: answer.why };
  const { rules } = job.book.compiled;
  const hits = answer.hits.flatMap(({ index, field, found }): RuleHit[] => {
    const rule = rules[index];
    return rule === undefined ? [] : [{ rule, field, found }];
  });
  return { kind: 'judged', hits, bytes: answer.bytes };
}
