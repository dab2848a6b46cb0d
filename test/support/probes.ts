/** What a process holds and what it swallowed: open descriptors, active handles, errors that nobody caught. */
import { readdirSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { waitFor } from './wait.js';

/** Open file descriptors of this process, or of another. */
export function openDescriptors(pid: number | 'self' = 'self'): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Open sockets among them. */
export function openSockets(pid: number | 'self' = 'self'): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

/** How many active resources of each kind keep this process alive (`TCPSocketWrap`, `Timeout`, …). */
export function activeResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

/** Waits until no more sockets are open than `atMost`. */
export async function socketsBackTo(atMost: number, guardMs?: number): Promise<void> {
  await waitFor(
    `at most ${atMost} open sockets; there are ${openSockets()}`,
    () => openSockets() <= atMost,
    guardMs,
  );
}

/** Bytes of heap in use after a collection. */
export function heapBytes(): number {
  // Allowed to be set late: only a fresh context then has the function.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}

/** Watches for what would end a real process, and for warnings such as MaxListeners. */
export interface Watch {
  /** Errors that nobody caught, and warnings, as text. */
  readonly found: readonly string[];
  /** Stops watching; throws when something was found. */
  stop(): void;
}

/** Starts to watch. While it watches, the test runner's own handlers are set aside, so that the test sees them. */
export function watchProcess(): Watch {
  const found: string[] = [];
  const names = ['uncaughtException', 'unhandledRejection', 'warning'] as const;
  const listeners = names.map((name) => {
    const listener = (error: unknown): void => {
      found.push(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    };
    // Node's own printing of warnings stays; the others are replaced.
    const before = name === 'warning' ? [] : process.listeners(name as 'uncaughtException');
    for (const other of before) process.off(name, other);
    process.on(name, listener);
    return { name, listener, before };
  });
  return {
    found,
    stop: () => {
      for (const { name, listener, before } of listeners) {
        process.off(name, listener);
        for (const other of before) process.on(name, other);
      }
      if (found.length > 0) throw new Error(`the process met:\n${found.join('\n')}`);
    },
  };
}
