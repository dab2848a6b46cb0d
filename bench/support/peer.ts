/**
 * What the bench knows of a gateway it measures. To add one: write a `Peer`, list it in peers/catalogue.ts.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENT_LOGIN } from './wire.js';
import { GATEWAY_CORE, start, waitForAnnouncedPort } from './process.js';

export interface PeerContext {
  /** Folder for configuration and logs, writable by everyone. */
  directory: string;
  /** Where the scripted upstream proxy listens, on 127.0.0.1. */
  upstreamPort: number;
  upstreamPid: number;
  /** Extra arguments for `node`, for profiling. */
  nodeArgs: string[];
}

export interface RunningPeer {
  port: number;
  pid: number;
  login: string;
  logFile: string;
  stop: () => Promise<void>;
}

export interface Peer {
  name: string;
  /** What is on and what is not, in a few words. */
  note: string;
  /** A row to compare with that is no rival: shown, never measured against a goal. */
  isReference?: boolean;
  start: (context: PeerContext) => Promise<RunningPeer>;
}

/** Why a peer cannot run on this machine. Its row says "skipped" with this reason. */
export class Unavailable extends Error {}

/** Root of the compiled bench, `dist-bench/`. */
export const COMPILED_ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Root of the project. */
export const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A peer that is one script of peers/, listening where the system puts it. */
export function scriptPeer(name: string, note: string): Peer {
  return {
    name,
    note,
    start: async (context) => {
      const started = start({
        core: GATEWAY_CORE,
        command: process.execPath,
        args: [...context.nodeArgs, join(COMPILED_ROOT, 'peers', `${name}.js`)],
        logFile: join(context.directory, `${name}.log`),
        env: { BENCH_UPSTREAM_PORT: String(context.upstreamPort) },
      });
      const port = await orStop(started, () => waitForAnnouncedPort(started));
      return { port, pid: started.pid, login: CLIENT_LOGIN, logFile: started.logFile, stop: started.stop };
    },
  };
}

/** Runs `ready`; when it fails, the process does not stay behind. */
export async function orStop<T>(started: { stop: () => Promise<void> }, ready: () => Promise<T>): Promise<T> {
  try {
    return await ready();
  } catch (error) {
    await started.stop();
    throw error;
  }
}
