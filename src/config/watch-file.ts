/**
 * Sees that a file has changed, by looking at it: twice a second, which costs nothing and works where notices of the
 * system don't (network disks, single files mounted into a container, the swapped links of Kubernetes). A change counts
 * once the file has stayed the same for a look, so that a half-written one is not read.
 */
import { stat } from 'node:fs/promises';
import type { Clock, Timer } from '../core/clock.js';

const LOOK_MS = 500;

/** What tells one state of the file from another; null while there is none. */
async function signatureOf(file: string): Promise<string | null> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(file);
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
  } catch {
    return null;
  }
}

/**
 * Calls back after each change of the file, until the returned function is called. A file that is gone for a while is
 * looked for again; that alone is no change.
 */
export function watchFile(file: string, clock: Clock, onChange: () => void): () => void {
  let known: string | null = null;
  let previous: string | null = null;
  let isFirst = true;
  let isStopped = false;
  let timer: Timer | null = null;
  const look = async (): Promise<void> => {
    const now = await signatureOf(file);
    if (isStopped) return;
    if (isFirst) known = now;
    else if (now !== null && now !== known && now === previous) {
      known = now;
      onChange();
    }
    isFirst = false;
    previous = now;
    timer = clock.after(LOOK_MS, () => void look());
  };
  void look();
  return () => {
    isStopped = true;
    timer?.cancel();
  };
}
