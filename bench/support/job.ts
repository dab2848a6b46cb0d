/**
 * What the runner asks of the load generator, and what comes back. Both travel as JSON.
 */

/** Where the gateway listens, as whom to log in there, and the process whose CPU and memory count. */
export interface Gateway {
  port: number;
  pid: number;
  /** `name:password` for Proxy-Authorization. */
  login: string;
}

interface Timed {
  gateway: Gateway;
  connections: number;
  warmupMs: number;
  /** The warm-up also lasts until this many units are done, so that a slow start is not measured (at most 20 s more). */
  warmupUnits: number;
  measureMs: number;
}

/** Closed loop of GETs. `path` is answered by the upstream with exactly `size` bytes. */
export interface GetJob extends Timed {
  kind: 'get';
  path: string;
  size: number;
}

/** Open loop of GETs at a fixed rate; latency counts from the intended start. */
export interface PacedJob extends Timed {
  kind: 'paced';
  path: string;
  size: number;
  perSecond: number;
}

/** Closed loop of: CONNECT, 100 bytes there and back, close. */
export interface TunnelJob extends Timed {
  kind: 'tunnel';
}

/** Downloads without pause through `connections` tunnels. */
export interface BulkJob extends Timed {
  kind: 'bulk';
}

/** Opens `tunnels` tunnels, leaves them idle, moves `bytesEach` through each, closes all. */
export interface IdleJob {
  kind: 'idle';
  gateway: Gateway;
  tunnels: number;
  bytesEach: number;
}

export type TimedJob = GetJob | PacedJob | TunnelJob | BulkJob;
export type Job = TimedJob | IdleJob;

interface Outcome {
  errors: number;
  firstError?: string;
}

/** `units` were finished in the measured window: requests, tunnels, or bytes. */
export interface TimedResult extends Outcome {
  kind: 'timed';
  /** Begin and end of the window on the machine's monotonic clock, which profiles use as well. */
  windowMicros: [number, number];
  units: number;
  seconds: number;
  cpuSeconds: number;
  /** The gateway was ready to run, and something else had its core. */
  waitingSeconds: number;
  p50Ms: number;
  p99Ms: number;
  reconnects: number;
}

export interface IdleResult extends Outcome {
  kind: 'idle';
  freshKiBPerTunnel: number;
  usedKiBPerTunnel: number;
  /** Open descriptors after all tunnels were closed, minus those before the first. */
  descriptorsLeft: number;
}

export type JobResult = TimedResult | IdleResult;
