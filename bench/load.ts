/**
 * The load generator: a process of its own. Takes one job as JSON in its first argument, prints the result as JSON.
 */
import { bulkLoop } from './load/bulk.js';
import { getLoop } from './load/get.js';
import { measureIdle } from './load/idle.js';
import { Meter } from './load/meter.js';
import { pacedLoop } from './load/paced.js';
import { tunnelLoop } from './load/tunnel.js';
import type { IdleResult, Job, JobResult, TimedJob } from './support/job.js';

const job = JSON.parse(process.argv[2] ?? 'null') as Job;
const result: JobResult = job.kind === 'idle' ? await measureIdle(job).catch(failedIdle) : await measure(job);
process.stdout.write(JSON.stringify(result), () => process.exit(0));

function measure(timed: TimedJob): Promise<JobResult> {
  const meter = new Meter(timed);
  return meter.run(() => {
    if (timed.kind === 'paced') return [pacedLoop(timed, meter)];
    return Array.from({ length: timed.connections }, (_, slot) => {
      if (timed.kind === 'get') return getLoop(timed, slot, meter);
      return timed.kind === 'tunnel' ? tunnelLoop(timed, slot, meter) : bulkLoop(timed, slot, meter);
    });
  });
}

function failedIdle(error: unknown): IdleResult {
  const nothing = { freshKiBPerTunnel: 0, usedKiBPerTunnel: 0, descriptorsLeft: 0 };
  return { kind: 'idle', ...nothing, errors: 1, firstError: String(error) };
}
