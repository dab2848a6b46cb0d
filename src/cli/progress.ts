/** A bar for long work, drawn where somebody watches; and a bounded number of things done at once. */
import type { Output } from './output.js';

const width = 30;

/** Tells how far work has come. */
export class Progress {
  private done = 0;

  constructor(
    private readonly output: Output,
    private readonly total: number,
  ) {}

  /** One more is done. */
  step(): void {
    this.done++;
    const share = this.total === 0 ? 1 : this.done / this.total;
    const filled = Math.round(share * width);
    this.output.draw?.(`[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${this.done}/${this.total}`);
  }

  /** Takes the bar away. */
  end(): void {
    this.output.draw?.('');
  }
}

/** Does `work` for each item, at most `atOnce` at a time; the results in the order of the items. */
export async function forEachOf<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}
