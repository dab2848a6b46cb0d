/**
 * Tells when files have changed. The system is asked to tell of changes in their folders, so that a file that is
 * replaced is seen too; a look every few seconds finds what it does not tell (network drives, containers).
 */
import { watch, type FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Deadline, TimerWheel } from '../core/timer-wheel.js';

/** How long after a change nothing more has to come. */
const SETTLE_MS = 200;
const LOOK_MS = 5000;

/** Times; a test makes them shorter. */
export interface WatchTimes {
  readonly settleMs: number;
  readonly lookMs: number;
}

/** Watches some files until it is closed. */
export class FileWatch {
  readonly #stamps = new Map<string, string>();
  readonly #watchers: FSWatcher[] = [];
  readonly #settling: Deadline;
  readonly #looking: Deadline;
  #isClosed = false;

  /** @param onChange told of each file that is not what it was */
  constructor(
    private readonly files: readonly string[],
    private readonly onChange: (file: string) => void,
    wheel: TimerWheel,
    times: WatchTimes = { settleMs: SETTLE_MS, lookMs: LOOK_MS },
  ) {
    const look = (): void => void this.#look();
    this.#settling = wheel.idle(look);
    this.#looking = wheel.idle(() => {
      look();
      if (!this.#isClosed) this.#looking.restart(times.lookMs);
    });
    for (const folder of new Set(files.map((file) => dirname(file)))) this.#watch(folder, times.settleMs);
    if (files.length > 0) this.#looking.restart(times.lookMs);
  }

  /** Notes what the files are now, so that only later changes are told. Called before they are read. */
  async settle(): Promise<void> {
    for (const file of this.files) this.#stamps.set(file, await stampOf(file));
  }

  close(): void {
    this.#isClosed = true;
    for (const watcher of this.#watchers) watcher.close();
    this.#settling.cancel();
    this.#looking.cancel();
  }

  #watch(folder: string, settleMs: number): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => {
        if (!this.#isClosed) this.#settling.restart(settleMs);
      });
      // The look every few seconds remains.
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch {
      return;
    }
  }

  async #look(): Promise<void> {
    for (const file of this.files) {
      const stamp = await stampOf(file);
      if (this.#isClosed || this.#stamps.get(file) === stamp) continue;
      this.#stamps.set(file, stamp);
      this.onChange(file);
    }
  }
}

/** Changes whenever the file does; a file that is not there has a stamp too. */
async function stampOf(file: string): Promise<string> {
  try {
    const { mtimeMs, ctimeMs, size, ino } = await stat(file);
    return `${mtimeMs}/${ctimeMs}/${size}/${ino}`;
  } catch {
    return 'none';
  }
}
