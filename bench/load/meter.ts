/**
 * The measured window of a run: warm-up, then units, latencies and the gateway's CPU until the end.
 */
import type { TimedJob, TimedResult } from '../support/job.js';
import { cpuSeconds, waitingSeconds } from '../support/proc.js';
import { percentile } from '../support/statistics.js';

/** A broken gateway is not flogged for the whole run. */
const MAX_ERRORS = 50;
/** What is under way at the end of the window may take this long to finish. */
const DRAIN_MS = 5_000;
/** How much longer than planned a warm-up may take to reach its number of units. */
const WARM_UP_GRACE_MS = 20_000;
const WARM_UP_CHECK_MS = 100;

export class Meter {
  readonly #job: TimedJob;
  readonly #latenciesMs: number[] = [];
  #isMeasuring = false;
  #isOver = false;
  #units = 0;
  #warmUnits = 0;
  #errors = 0;
  #reconnects = 0;
  #firstError: string | undefined;
  #startMs = 0;
  #beginMicros = 0;
  #startCpu = 0;
  #startWaiting = 0;
  #seconds = 0;
  #cpu = 0;
  #waiting = 0;
  #timer: NodeJS.Timeout | undefined;
  #late: ((reason: string) => void) | undefined;

  constructor(job: TimedJob) {
    this.#job = job;
  }

  /** No new unit may start. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Units done, with the time they took where that is asked for. */
  add(units: number, latencyMs?: number): void {
    this.#warmUnits += units;
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
    const late = new Promise<string>((resolve) => (this.#late = resolve));
    const startMs = performance.now();
    this.#timer = setTimeout(() => this.#beginWhenWarm(startMs), this.#job.warmupMs);
    const reason = await Promise.race([Promise.all(loops()).then(() => undefined), late]);
    clearTimeout(this.#timer);
    if (reason !== undefined) this.fail(reason);
    return this.#result();
  }

  #beginWhenWarm(sinceMs: number): void {
    const isLate = performance.now() - sinceMs > this.#job.warmupMs + WARM_UP_GRACE_MS;
    if (this.#warmUnits < this.#job.warmupUnits && !isLate) {
      this.#timer = setTimeout(() => this.#beginWhenWarm(sinceMs), WARM_UP_CHECK_MS);
      return;
    }
    this.#isMeasuring = true;
    this.#startMs = performance.now();
    this.#beginMicros = Number(process.hrtime.bigint() / 1000n);
    this.#startCpu = cpuSeconds(this.#job.gateway.pid);
    this.#startWaiting = waitingSeconds(this.#job.gateway.pid);
    this.#timer = setTimeout(() => this.#end(), this.#job.measureMs);
  }

  /** Closes the window; whoever is still under way then gets a little time. */
  #end(): void {
    if (this.#isOver) return;
    if (this.#isMeasuring) {
      this.#cpu = cpuSeconds(this.#job.gateway.pid) - this.#startCpu;
      this.#waiting = waitingSeconds(this.#job.gateway.pid) - this.#startWaiting;
      this.#seconds = (performance.now() - this.#startMs) / 1000;
    }
    this.#isMeasuring = false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => this.#late?.(`something got no answer within ${DRAIN_MS / 1000} s`),
      DRAIN_MS,
    );
  }

  #result(): TimedResult {
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    return {
      kind: 'timed',
      windowMicros: [this.#beginMicros, this.#beginMicros + this.#seconds * 1e6],
      units: this.#units,
      seconds: this.#seconds,
      cpuSeconds: this.#cpu,
      waitingSeconds: this.#waiting,
      p50Ms: percentile(sorted, 50),
      p99Ms: percentile(sorted, 99),
      reconnects: this.#reconnects,
      errors: this.#errors,
      ...(this.#firstError === undefined ? {} : { firstError: this.#firstError }),
    };
  }
}
