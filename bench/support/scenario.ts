/**
 * What a scenario is: one question, the job that answers it, and the goals the answer is held against.
 */
import type { Gateway, Job, JobResult, TimedJob, TimedResult } from './job.js';

export type Figures = Record<string, number>;

export interface Column {
  key: string;
  title: string;
  digits: number;
}

/** See support/job.ts. */
export type Timing = Pick<TimedJob, 'warmupMs' | 'warmupUnits' | 'measureMs'>;

/** How long the runs of a scenario are, and how many tunnels an untimed one opens. */
export interface Pace {
  timing: Timing;
  tunnels: number;
}

/** Gives the median of a figure of a peer in this run, undefined when it was not measured. */
export type Baseline = (peer: string) => number | undefined;

/** `key` of turnpike must be at most (or at least) `limit`, which may follow from a peer of the same run. */
export interface Goal {
  text: string;
  key: string;
  isLeast?: boolean;
  limit: (baseline: Baseline) => number | undefined;
}

export interface Scenario {
  name: string;
  /** Asking for the group asks for all its scenarios. */
  group: string;
  question: string;
  /** The first column is what the goals are about and what the spread is shown for. */
  columns: readonly [Column, ...Column[]];
  goals: readonly Goal[];
  /** Peers whose row would say nothing here. */
  leaveOut: readonly string[];
  /** Start peers anew for every run, since the run changes them (memory). */
  needsFreshPeers?: boolean;
  maxRounds?: number;
  job: (gateway: Gateway, pace: Pace) => Job;
  figures: (result: JobResult) => Figures;
}

/** How much of its core the gateway used, and for how much of the time another process kept it from running. */
export const CORE_COLUMNS: readonly Column[] = [
  { key: 'busy', title: 'core busy %', digits: 0 },
  { key: 'disturbed', title: 'disturbed %', digits: 0 },
];

const SPEED_COLUMNS: readonly Column[] = [
  { key: 'perSecond', title: 'per second', digits: 0 },
  { key: 'p50Ms', title: 'p50 ms', digits: 2 },
  { key: 'p99Ms', title: 'p99 ms', digits: 2 },
  ...CORE_COLUMNS,
];

/** Columns of a scenario about CPU per unit: the unit's price, then speed. */
export function cpuColumns(title: string): readonly [Column, ...Column[]] {
  return [{ key: 'cpuMicros', title, digits: 1 }, ...SPEED_COLUMNS];
}

/** CPU per unit in µs, units per second, latency in ms, and the shares of `CORE_COLUMNS`. */
export function cpuFigures(result: JobResult): Figures {
  const timed = asTimed(result);
  return {
    cpuMicros: (timed.cpuSeconds / timed.units) * 1e6,
    perSecond: timed.units / timed.seconds,
    p50Ms: timed.p50Ms,
    p99Ms: timed.p99Ms,
    ...coreFigures(timed),
  };
}

/** Figures for `CORE_COLUMNS`, in % of the window. */
export function coreFigures({ cpuSeconds, waitingSeconds, seconds }: TimedResult): Figures {
  return { busy: (cpuSeconds / seconds) * 100, disturbed: (waitingSeconds / seconds) * 100 };
}

/** The result of a timed job. Throws on any other. */
export function asTimed(result: JobResult): TimedResult {
  if (result.kind !== 'timed') throw new Error('the load generator answered another question');
  return result;
}

/** Adds to or multiplies a baseline where there is one. */
export function derived(value: number | undefined, change: (value: number) => number): number | undefined {
  return value === undefined ? undefined : change(value);
}
