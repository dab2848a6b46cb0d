/**
 * Which exits are in which pool, beyond what the sources say: those that were added at run time, and those that were
 * removed. Both outlive a new reading of the sources, and end with the process.
 */
import type { Pool } from '../upstreams/pool.js';
import type { Upstream } from '../upstreams/upstream.js';

/** The changes of one pool. */
interface Changes {
  readonly added: Map<string, Upstream>;
  /** Ids of exits that the sources name and nobody wants. */
  readonly removed: Set<string>;
}

/** What was added and removed by hand, by pool. */
export class Roster {
  readonly #sources = new Map<string, readonly Upstream[]>();
  readonly #changes = new Map<string, Changes>();

  /** What a pool is made of, its sources now being these. Whoever reads sources asks this before building the pool. */
  compose(pool: string, fromSources: readonly Upstream[]): readonly Upstream[] {
    this.#sources.set(pool, fromSources);
    const changes = this.#changes.get(pool);
    if (changes === undefined) return fromSources;
    const kept = fromSources.filter(({ id }) => !changes.removed.has(id));
    const named = new Set(kept.map(({ id }) => id));
    return [...kept, ...[...changes.added.values()].filter(({ id }) => !named.has(id))];
  }

  /** The same with the sources as they were read last. */
  current(pool: Pool): readonly Upstream[] {
    return this.compose(pool.name, this.#sources.get(pool.name) ?? pool.upstreams);
  }

  /** An exit that the sources name already is only no longer removed. */
  add(pool: string, upstream: Upstream): void {
    const changes = this.#of(pool);
    changes.removed.delete(upstream.id);
    if (!this.#isInSources(pool, upstream.id)) changes.added.set(upstream.id, upstream);
  }

  remove(pool: string, id: string): void {
    const changes = this.#of(pool);
    changes.added.delete(id);
    if (this.#isInSources(pool, id)) changes.removed.add(id);
    if (changes.added.size + changes.removed.size === 0) this.#changes.delete(pool);
  }

  #isInSources(pool: string, id: string): boolean {
    return this.#sources.get(pool)?.some((upstream) => upstream.id === id) === true;
  }

  #of(pool: string): Changes {
    const known = this.#changes.get(pool);
    if (known !== undefined) return known;
    const made: Changes = { added: new Map(), removed: new Set() };
    this.#changes.set(pool, made);
    return made;
  }
}
