/** A bounded memory for answers that are dear to find and never change. Full means empty: nothing is kept by age. */

/** Remembers up to `capacity` answers; when full it forgets all, which costs one round of misses and no bookkeeping. */
export class Memo<Value> {
  private readonly known = new Map<string, Value>();

  constructor(private readonly capacity: number) {}

  get size(): number {
    return this.known.size;
  }

  get(key: string): Value | undefined {
    return this.known.get(key);
  }

  /** The key is copied: a slice would keep the whole message head alive that it was cut from. */
  set(key: string, value: Value): void {
    if (this.known.size >= this.capacity) this.known.clear();
    this.known.set(ownCopy(key), value);
  }
}

/** A latin1 string with memory of its own. */
export function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
