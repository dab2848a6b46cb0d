/**
 * A program that listens: started on a free port, waited for until it accepts, ended by its process group
 * on close and when this process ends. Knows nothing of what the program does.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import net from 'node:net';
import { delimiter, join } from 'node:path';

/** What to start, and how to configure it for a port. */
export interface Launch {
  /** The first of these that is installed is started. */
  programs: readonly string[];
  host: string;
  /** Called once per try, since a port may be taken between probing and binding. */
  prepare(port: number): string[];
  logFiles?: readonly string[];
  /** Where it must listen; a free one when not given. */
  port?: number | null;
  /** How it is asked to end; SIGTERM when not given. */
  stopSignal?: NodeJS.Signals;
  env?: NodeJS.ProcessEnv;
}

/** A program that accepts connections. */
export interface LaunchedProgram {
  port: number;
  pid: number;
  log(): string;
  close(): Promise<void>;
}

const startGuardMs = 15_000;
const stopGuardMs = 5_000;
const tries = 4;
const lowestPort = 5_000;
const portCount = 4_900;

/** Groups to end with this process; the number is the leader's pid. */
const running = new Set<number>();

function endAll(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
  running.clear();
}

let watched = false;

/** A worker is ended by a signal or by losing its parent, and then runs no `exit` handlers of its own accord. */
function watchOurEnd(): void {
  if (watched) return;
  watched = true;
  process.once('exit', endAll);
  process.once('disconnect', endAll);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      endAll();
      process.kill(process.pid, signal);
    });
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already, which is what was wanted.
  }
}

let addressCount = 0;

/**
 * A loopback address that no other caller has: the process makes two of its bytes, a counter the third.
 * Linux answers on all of 127.0.0.0/8.
 */
export function distinctAddress(): string {
  const count = addressCount++;
  const low = process.pid & 0xff;
  const high = (process.pid >> 8) & 0xff;
  return `127.${20 + (count % 200)}.${high}.${1 + (low % 254)}`;
}

function canBind(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

/** Of the range below, what fetch refuses to speak to ("bad port" in the Fetch standard). */
const badPorts = new Set([5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697]);

/**
 * A port of `host` that can be bound right now, below 10000 and so outside the range the system gives to
 * outgoing connections. Starts looking at a random place, so that parallel workers seldom look at the same one.
 */
export async function freePort(host: string): Promise<number> {
  const offset = Math.floor(Math.random() * portCount);
  for (let step = 0; step < portCount; step++) {
    const port = lowestPort + ((offset + step) % portCount);
    if (!badPorts.has(port) && (await canBind(host, port))) return port;
  }
  throw new Error(`no free port on ${host}`);
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => {
      done(false);
    });
    socket.once('connect', () => {
      done(true);
    });
    socket.once('error', () => {
      done(false);
    });
  });
}

const sbin = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

function findProgram(names: readonly string[]): string {
  for (const name of names) {
    for (const folder of [...(process.env['PATH'] ?? '').split(delimiter), ...sbin]) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not here; look further.
      }
    }
  }
  throw new Error(`${names.join(' or ')} is not installed: run node scripts/test-setup.mjs`);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

/** Polls until the port accepts; answers how it ended. */
async function waitUntilReady(
  child: ChildProcess,
  host: string,
  port: number,
): Promise<'ready' | 'ended' | 'late'> {
  const deadline = performance.now() + startGuardMs;
  while (performance.now() < deadline) {
    if (hasEnded(child)) return 'ended';
    if (await accepts(host, port)) return hasEnded(child) ? 'ended' : 'ready';
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return 'late';
}

function stop(child: ChildProcess, pid: number, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  return new Promise((resolve) => {
    const ended = () => {
      clearTimeout(guard);
      // Children of the program that outlived it.
      signalGroup(pid, 'SIGKILL');
      running.delete(pid);
      resolve();
    };
    const guard = setTimeout(() => {
      signalGroup(pid, 'SIGKILL');
    }, stopGuardMs);
    if (hasEnded(child)) {
      ended();
      return;
    }
    child.once('exit', ended);
    signalGroup(pid, signal);
  });
}

/** Starts the program once; undefined pid means that it could not be executed. */
function spawnGroup(
  path: string,
  args: string[],
  env: NodeJS.ProcessEnv,
): { child: ChildProcess; output(): string } {
  const child = spawn(path, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env });
  const pieces: string[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece.toString('latin1')));
  child.stderr.on('data', (piece: Buffer) => pieces.push(piece.toString('latin1')));
  child.once('error', (error) => pieces.push(String(error)));
  return { child, output: () => pieces.join('') };
}

/**
 * Starts a program on a free port of `host` and waits until it accepts connections, at most 15 s.
 * Rejects with what the program said when it ends or hangs; a lost race for the port is tried again.
 */
export async function launch(what: Launch): Promise<LaunchedProgram> {
  watchOurEnd();
  const path = findProgram(what.programs);
  let problem = '';
  for (let attempt = 1; attempt <= tries; attempt++) {
    const port = what.port ?? (await freePort(what.host));
    const { child, output } = spawnGroup(path, what.prepare(port), { ...process.env, ...what.env });
    const log = () =>
      [output(), ...(what.logFiles ?? []).map(readOrEmpty)].filter((text) => text !== '').join('\n');
    const { pid } = child;
    if (pid === undefined) throw new Error(`${path} could not be started`);
    running.add(pid);
    const outcome = await waitUntilReady(child, what.host, port);
    if (outcome === 'ready') return { port, pid, log, close: () => stop(child, pid, what.stopSignal) };
    await stop(child, pid);
    problem = `${path} on ${what.host}:${port} ${outcome === 'ended' ? 'ended' : 'accepted nothing for 15 s'}:\n${log()}`;
    if (!/in use/i.test(problem)) break;
  }
  throw new Error(problem);
}
