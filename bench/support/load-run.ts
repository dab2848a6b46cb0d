/**
 * Runs the load generator for one job, in its own process on the other core, under a deadline.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Job, JobResult } from './job.js';
import { COMPILED_ROOT } from './peer.js';
import { OTHER_CORE } from './process.js';

const IDLE_DEADLINE_MS = 240_000;
/** Beyond warm-up and window: start of the process, a slow warm-up, draining, ending. */
const TIMED_GRACE_MS = 40_000;

/** Runs the job. Throws when the generator crashes, prints no result or takes too long. */
export async function runLoad(job: Job): Promise<JobResult> {
  const deadlineMs = job.kind === 'idle' ? IDLE_DEADLINE_MS : job.warmupMs + job.measureMs + TIMED_GRACE_MS;
  const program = join(COMPILED_ROOT, 'load.js');
  const child = spawn('taskset', ['-c', String(OTHER_CORE), process.execPath, program, JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let complaint = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()));
  const late = setTimeout(() => child.kill('SIGKILL'), deadlineMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  clearTimeout(late);
  if (code === null) throw new Error(`the load generator was not done after ${deadlineMs / 1000} s`);
  if (code !== 0)
    throw new Error(`the load generator failed: ${complaint.trim().split('\n').slice(-3).join(' | ')}`);
  return JSON.parse(output) as JobResult;
}
