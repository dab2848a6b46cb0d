/**
 * How much of each pool is set aside, so that automatic bans never empty one: at most a share of its exits,
 * always at least one. An exit that is half-open still counts, until its trial has brought it back.
 *
 * A ban for a site asks how many are out altogether and for that site. Going out altogether asks only the former:
 * a dead exit would else stay in use everywhere because one site bans half of the pool.
 */
import type { Pool } from '../upstreams/pool.js';

/** A pool as far as it is counted: by the numbers of its exits, or of their credentials. */
export type CountedPool = Pick<Pool, 'name' | 'slots'>;

interface PoolCount {
  readonly name: string;
  readonly size: number;
  readonly max: number;
  /** Exits out altogether. */
  out: number;
  /** Exits banned for one site, by site. */
  readonly bySite: Map<string, number>;
}

/** Counts per pool. The ledger says who is in which pool, and tells of every change. */
export class EjectionQuota {
  /** The pools that some exit is in together; the first is for those that are in none. */
  #shared: (readonly PoolCount[])[] = [[]];
  /** By slot, which of `#shared`: numbers, since a million exits may change at once. */
  #sharedOf = new Uint32Array(0);

  /** Takes over which exits are in which pool; all counts begin at 0. */
  apply(pools: Iterable<CountedPool>, maxShare: number): void {
    const list = [...pools];
    this.#shared = [[]];
    this.#sharedOf = new Uint32Array(list.reduce((most, { slots }) => roomFor(slots, most), 0));
    for (const { name, slots } of list) {
      const size = slots.length;
      const max = Math.max(1, Math.floor(size * maxShare));
      const withThis = this.#withPool({ name, size, max, out: 0, bySite: new Map() });
      for (const slot of slots) this.#sharedOf[slot] = withThis(this.#sharedOf[slot] ?? 0);
    }
  }

  /** From the number of some pools together to that of the same and one more. */
  #withPool(count: PoolCount): (before: number) => number {
    const known: number[] = [];
    return (before) => (known[before] ??= this.#shared.push([...(this.#shared[before] ?? []), count]) - 1);
  }

  /** Whether this slot is in any pool. */
  isMember(slot: number): boolean {
    return (this.#sharedOf[slot] ?? 0) !== 0;
  }

  #poolsOf(slot: number): readonly PoolCount[] {
    return this.#shared[this.#sharedOf[slot] ?? 0] ?? [];
  }

  /**
   * The first pool of this exit in which no further one may be set aside; null when it may go.
   * @param isDoubtful the evidence is weak, so that one exit at least has to stay
   */
  fullPool(slot: number, site: string | null, isDoubtful = false): string | null {
    for (const pool of this.#poolsOf(slot)) {
      const banned = site === null ? 0 : (pool.bySite.get(site) ?? 0);
      const max = isDoubtful ? Math.min(pool.max, pool.size - 1) : pool.max;
      if (pool.out + banned >= max) return pool.name;
    }
    return null;
  }

  /** Counts an exit that goes out (1) or comes back (−1), for a site or altogether (null). */
  change(slot: number, site: string | null, by: 1 | -1): void {
    for (const pool of this.#poolsOf(slot)) {
      if (site === null) {
        pool.out += by;
        continue;
      }
      const count = (pool.bySite.get(site) ?? 0) + by;
      if (count > 0) pool.bySite.set(site, count);
      else pool.bySite.delete(site);
    }
  }
}

/** One more than the largest of these numbers. */
function roomFor(slots: Uint32Array, least: number): number {
  let most = least;
  for (const slot of slots) if (slot >= most) most = slot + 1;
  return most;
}
