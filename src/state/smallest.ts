/** The first few of many in the order of their keys, without sorting all of them. Offering a key again replaces it. */

/** Keeps at most twice the limit. */
export class Smallest<T> {
  #kept = new Map<string, T>();
  /** Keys behind this one are too many. */
  #bound: string | null = null;

  /** @param limit how many are wanted, at least 1 */
  constructor(
    private readonly limit: number,
    private readonly keyOf: (item: T) => string,
  ) {}

  offer(item: T): void {
    const key = this.keyOf(item);
    if (this.#bound !== null && key > this.#bound) return;
    this.#kept.set(key, item);
    if (this.#kept.size >= 2 * this.limit) this.#cut();
  }

  /** The first `limit` of what was offered, in order. */
  sorted(): T[] {
    this.#cut();
    return [...this.#kept.values()];
  }

  #cut(): void {
    const keys = [...this.#kept.keys()].sort().slice(0, this.limit);
    if (keys.length === this.limit) this.#bound = keys.at(-1) ?? null;
    this.#kept = new Map(keys.map((key) => [key, this.#kept.get(key) as T]));
  }
}
