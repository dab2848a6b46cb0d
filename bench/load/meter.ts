/**
 * The measured window of a run: warm-up, then units, latencies and the gateway's CPU until the end.
 */
import type { TimedJob, TimedResult } from '../support/job.js';
import { cpuSeconds } from '../support/proc.js';
import { percentile } from '../support/statistics.js';

/** A broken gateway is not flogged for the whole run. */
const MAX_ERRORS = 50;
/** What is under way at the end of the window may take this long to finish. */
const DRAIN_MS = 5_000;

export class Meter {
  readonly #job: TimedJob;
  readonly #latenciesMs: number[] = [];
  #isMeasuring = false;
  #isOver = false;
  #units = 0;
  #errors = 0;
  #reconnects = 0;
  #firstError: string | undefined;
  #startMs = 0;
  #startCpu = 0;
  #seconds = 0;
  #cpu = 0;

  constructor(job: TimedJob) {
    this.#job = job;
  }

  /** No new unit may start. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Units done, with the time they took where that is asked for. */
  add(units: number, latencyMs?: number): void {
    if (!this.#isMeasuring) return;
    this.#units += units;
    if (latencyMs !== undefined) this.#latenciesMs.push(latencyMs);
  }

  /** A unit failed. Failures count from the first moment, warm-up included. */
  fail(reason: string): void {
    this.#errors++;
    this.#firstError ??= reason;
    if (this.#errors >= MAX_ERRORS) this.#end();
  }

  /** The gateway closed a kept connection between two requests; allowed, but it costs. */
  reconnected(): void {
    if (this.#isMeasuring) this.#reconnects++;
  }

  /** Starts `loops` (each ends by itself once `isOver`) and gives what was measured. */
  async run(loops: () => Promise<unknown>[]): Promise<TimedResult> {
    const begin = setTimeout(() => this.#begin(), this.#job.warmupMs);
    const end = setTimeout(() => this.#end(), this.#job.warmupMs + this.#job.measureMs);
    let drain: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      const afterMs = this.#job.warmupMs + this.#job.measureMs + DRAIN_MS;
      drain = setTimeout(() => resolve(`something got no answer within ${DRAIN_MS / 1000} s`), afterMs);
    });
    const reason = await Promise.race([Promise.all(loops()).then(() => undefined), late]);
    if (reason !== undefined) this.fail(reason);
    for (const timer of [begin, end, drain]) clearTimeout(timer);
    return this.#result();
  }

  #begin(): void {
    if (this.#isOver) return;
    this.#isMeasuring = true;
    this.#startMs = performance.now();
    this.#startCpu = cpuSeconds(this.#job.gateway.pid);
  }

  #end(): void {
    if (this.#isMeasuring) {
      this.#cpu = cpuSeconds(this.#job.gateway.pid) - this.#startCpu;
      this.#seconds = (performance.now() - this.#startMs) / 1000;
    }
    this.#isMeasuring = false;
    this.#isOver = true;
  }

  #result(): TimedResult {
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    return {
      kind: 'timed',
      units: this.#units,
      seconds: this.#seconds,
      cpuSeconds: this.#cpu,
      p50Ms: percentile(sorted, 50),
      p99Ms: percentile(sorted, 99),
      reconnects: this.#reconnects,
      errors: this.#errors,
      ...(this.#firstError === undefined ? {} : { firstError: this.#firstError }),
    };
  }
}
