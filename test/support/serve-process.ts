/** `turnpike serve` as a process of its own, as `npm run build` made it: for signals, exit codes and descriptors. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { waitFor } from './wait.js';

/** A gateway in a process. */
export interface ServeProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly port: number;
  /** `http://host:port` of metrics and health. */
  readonly admin: string;
  /** Its exit code, once it ended. */
  readonly ended: Promise<number | null>;
  stderr(): string;
  /** What it logged so far. */
  log(): string;
  /** Kills it if it still runs, and removes its files. */
  close(): Promise<void>;
}

const main = resolve(import.meta.dirname, '../../dist/cli/main.js');

/** Several start at once, on a machine that has much else to do. */
const START_GUARD_MS = 60_000;

/** How the process is started, where that matters. */
export interface ServeOptions {
  /** `ulimit -n` of the process; that of the tests when not given. */
  readonly openFiles?: number;
  /** What the command begins with, to run it elsewhere. */
  readonly inside?: readonly string[];
  /** The program, where it is not this one. */
  readonly program?: string;
}

/** Starts one on free ports and waits until it listens. Sections of `config` are laid over a small base. */
export async function startServe(
  upstreams: readonly string[],
  config: Record<string, unknown> = {},
  options: ServeOptions = {},
): Promise<ServeProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-serve-'));
  const file = join(folder, 'turnpike.yaml');
  const logFile = join(folder, 'turnpike.log');
  const base = {
    listen: { proxy: '127.0.0.1:0', admin: '127.0.0.1:0' },
    log: { file: logFile },
    pools: { main: { upstreams: upstreams.map((url) => ({ url })) } },
  };
  writeFileSync(file, stringify({ ...base, ...config }));
  const { inside = [], program = main } = options;
  const command = [process.execPath, '--unhandled-rejections=strict', program, 'serve', '--config', file];
  const limit = options.openFiles === undefined ? '' : `ulimit -n ${options.openFiles}; `;
  const child = spawn('/bin/sh', ['-c', `${limit}exec "$@"`, 'sh', ...inside, ...command], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const ended = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  const [, port = '', admin = ''] = await waitFor(
    'the gateway to listen',
    () => {
      if (child.exitCode !== null) throw new Error(`the gateway ended: ${stderr}`);
      return /proxy {2}http:\/\/127\.0\.0\.1:(\d+)\n {2}admin {2}(http:\S+)/.exec(stderr);
    },
    START_GUARD_MS,
  );
  return {
    ...{ child, pid: child.pid ?? 0, port: Number(port), admin, ended },
    stderr: () => stderr,
    log: () => readFileSync(logFile, 'utf8'),
    close: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
