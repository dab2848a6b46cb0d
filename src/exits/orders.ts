/**
 * What an operator has ordered about exits: frozen ones keep their sessions and get no new ones; draining ones too, and
 * leave when the last of them is over. By slot, sparse: nearly all exits have no order.
 */

/** Frozen: until it is thawed. Draining: until nobody uses it, then it is removed. */
export type Order = 'frozen' | 'draining';

/** Orders of one process. They outlive a change of pools, and end with the process. */
export class Orders {
  readonly #bySlot = new Map<number, Order>();

  /** The order about this exit, or null. */
  of(slot: number): Order | null {
    return this.#bySlot.get(slot) ?? null;
  }

  /** Whether requests that are not on this exit yet may come to it. Asked for every candidate. */
  isOpenToNew(slot: number): boolean {
    return this.#bySlot.size === 0 || !this.#bySlot.has(slot);
  }

  /** Whether nothing is ordered at all. */
  get isEmpty(): boolean {
    return this.#bySlot.size === 0;
  }

  give(slot: number, order: Order): void {
    this.#bySlot.set(slot, order);
  }

  /** Takes back what was ordered; true when something was. */
  lift(slot: number): boolean {
    return this.#bySlot.delete(slot);
  }

  /** Slots under this order. */
  withOrder(order: Order): number[] {
    return [...this.#bySlot].filter(([, each]) => each === order).map(([slot]) => slot);
  }
}
