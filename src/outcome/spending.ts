/**
 * What a pool costs, and what was spent on it today: money by request and by bytes, in whatever currency the prices are.
 * A day ends at midnight, UTC. It reads no clock.
 */

/** Prices of a pool, and the most to spend on it in a day. */
export interface PoolCost {
  readonly perGb: number;
  readonly perRequest: number;
  /** Infinity: no limit. */
  readonly budgetPerDay: number;
}

/** A pool that costs nothing. */
export const noCost: PoolCost = { perGb: 0, perRequest: 0, budgetPerDay: Infinity };

const DAY_MS = 86_400_000;
const GB = 1e9;

/** The day's account of all pools. */
export class Spending {
  #day = -1;
  readonly #spent = new Map<string, number>();

  /** Spent on this pool today. */
  today(pool: string, wallMs: number): number {
    return Math.floor(wallMs / DAY_MS) === this.#day ? (this.#spent.get(pool) ?? 0) : 0;
  }

  /** Whether one more request through this pool fits its budget. */
  allows(pool: string, cost: PoolCost, wallMs: number): boolean {
    return (
      cost.budgetPerDay === Infinity ||
      this.today(pool, wallMs) + cost.perRequest <= nearly(cost.budgetPerDay)
    );
  }

  /** Charges a try, or bytes that passed. */
  charge(
    pool: string,
    cost: PoolCost,
    use: { readonly requests: number; readonly bytes: number; readonly wallMs: number },
  ): void {
    const amount = use.requests * cost.perRequest + (use.bytes / GB) * cost.perGb;
    if (amount === 0) return;
    const day = Math.floor(use.wallMs / DAY_MS);
    if (day !== this.#day) this.#spent.clear();
    this.#day = day;
    this.#spent.set(pool, (this.#spent.get(pool) ?? 0) + amount);
  }
}

/** Milliseconds until the day's budget is new. */
export function untilTomorrowMs(wallMs: number): number {
  return DAY_MS - (wallMs % DAY_MS);
}

/** Sums of fractions drift: a budget of 1 is ten requests at 0.1. A budget that is used up allows nothing all the same. */
function nearly(budget: number): number {
  return budget * (1 + 1e-9);
}
