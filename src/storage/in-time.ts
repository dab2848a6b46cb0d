/** A bound for what is asked of an engine: whoever asks gets a word in time, whatever becomes of it. */
import type { Clock } from '../core/clock.js';
import { StorageAway } from './ports.js';

/** Resolves as the promise does, or rejects with StorageAway after so long. */
export function inTime<T>(promise: Promise<T>, mostMs: number, clock: Clock): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = clock.after(mostMs, () => reject(tooSlow(mostMs)));
    void promise.then(resolve, reject).finally(() => timer.cancel());
  });
}

/** What is said of a call that took too long. */
export const tooSlow = (mostMs: number): StorageAway =>
  new StorageAway(`the database didn't answer within ${mostMs} ms`);
