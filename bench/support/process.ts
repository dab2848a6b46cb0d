/**
 * Starts processes on a chosen core and ends them again, by pid and only those started here.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** The core of the gateway under test, and the core of everything else. */
export const GATEWAY_CORE = 0;
export const OTHER_CORE = 1;

/** A process must be ready within this time. */
const START_DEADLINE_MS = 10_000;
/** Long enough to write a profile. */
const STOP_DEADLINE_MS = 20_000;

export interface Launch {
  core: number;
  command: string;
  args: string[];
  logFile: string;
  directory?: string;
  env?: Record<string, string>;
}

export interface Started {
  pid: number;
  child: ChildProcess;
  logFile: string;
  /** SIGTERM, then SIGKILL when it does not leave in time. */
  stop: () => Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts a command pinned to a core, its output going to `logFile`. taskset replaces itself: the pid is the command's. */
export function start(launch: Launch): Started {
  const log = openSync(launch.logFile, 'a');
  const child = spawn('taskset', ['-c', String(launch.core), launch.command, ...launch.args], {
    stdio: ['ignore', log, log],
    cwd: launch.directory,
    env: { ...process.env, ...launch.env },
  });
  closeSync(log);
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  if (child.pid === undefined) throw new Error(`cannot start ${launch.command}`);
  return { pid: child.pid, child, logFile: launch.logFile, stop: () => stop(child) };
}

/** Waits until something accepts on 127.0.0.1:port. Throws with the end of its log when it left or the deadline passed. */
export async function waitForPort(started: Started, port: number): Promise<void> {
  await waitUntil(started, () => accepts(port), `nothing listens on port ${port}`);
}

/** Waits for a line `listening PORT` in the log, which is how the scripts in peers/ say that they are ready. */
export async function waitForAnnouncedPort(started: Started): Promise<number> {
  let port = 0;
  await waitUntil(
    started,
    () => {
      port = Number(/^listening (\d+)$/m.exec(readFileSync(started.logFile, 'utf8'))?.[1] ?? 0);
      return Promise.resolve(port > 0);
    },
    'no port announced',
  );
  return port;
}

/** A port below the ephemeral range that was free a moment ago, for programs that cannot take port 0. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = 5000 + Math.floor(Math.random() * 4900);
    if (await canListen(port)) return port;
  }
  throw new Error('no free port between 5000 and 9900');
}

async function waitUntil(started: Started, ready: () => Promise<boolean>, complaint: string): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    if (started.child.exitCode !== null)
      throw new Error(`left with code ${started.child.exitCode}: ${endOfLog(started)}`);
    if (await ready()) return;
    if (Date.now() > deadline)
      throw new Error(`${complaint} after ${START_DEADLINE_MS / 1000} s: ${endOfLog(started)}`);
    await sleep(50);
  }
}

function endOfLog(started: Started): string {
  if (!existsSync(started.logFile)) return '(no log)';
  return readFileSync(started.logFile, 'utf8').trim().split('\n').slice(-6).join(' | ') || '(log is empty)';
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const left = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const late = setTimeout(() => {
    console.error(
      `${child.spawnargs.join(' ')} ignored SIGTERM for ${STOP_DEADLINE_MS / 1000} s and was killed`,
    );
    child.kill('SIGKILL');
  }, STOP_DEADLINE_MS);
  await left;
  clearTimeout(late);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
