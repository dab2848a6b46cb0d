/**
 * A waiting line that is fair between clients: each has a queue of its own, and the heads of the queues are served
 * in turn, so that a client with a thousand requests waiting doesn't keep one with a single request from its share.
 * It knows nothing of time, and not what is waited for.
 */

/** Waiting items of many clients. */
export class FairLine<Item> {
  /** The client whose turn it is comes first. */
  readonly #queues = new Map<string, Item[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Joins at the end of the client's queue, or at its head. */
  add(client: string, item: Item, where: 'end' | 'head' = 'end'): void {
    const queue = this.#queues.get(client);
    if (queue === undefined) this.#queues.set(client, [item]);
    else if (where === 'head') queue.unshift(item);
    else queue.push(item);
    this.#length++;
  }

  /** Leaves the line; false when it wasn't there. */
  remove(client: string, item: Item): boolean {
    const queue = this.#queues.get(client);
    const at = queue?.indexOf(item) ?? -1;
    if (queue === undefined || at < 0) return false;
    queue.splice(at, 1);
    if (queue.length === 0) this.#queues.delete(client);
    this.#length--;
    return true;
  }

  /**
   * Offers the heads of the queues in turn, until every client's head was refused once since the last one was taken. A
   * client whose head is taken goes behind all others.
   * @param take whether the item is served now; it must not change the line
   */
  serve(take: (item: Item) => boolean): void {
    let refusedInARow = 0;
    const waiting = [...this.#queues.keys()];
    for (let at = 0; refusedInARow < this.#queues.size; at++) {
      const client = waiting[at % waiting.length] ?? '';
      const queue = this.#queues.get(client);
      const head = queue?.[0];
      if (queue === undefined || head === undefined) continue;
      if (!take(head)) {
        refusedInARow++;
        continue;
      }
      refusedInARow = 0;
      queue.shift();
      this.#length--;
      this.#queues.delete(client);
      if (queue.length > 0) this.#queues.set(client, queue);
    }
  }
}
