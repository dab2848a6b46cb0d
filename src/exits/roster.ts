/**
 * Which exits are in which pool, beyond what the sources say: those that were added at run time, and those that were
 * removed. Both outlive a new reading of the sources, and end with the process.
 */
import type { Pool } from '../upstreams/pool.js';
import type { Upstream, UpstreamLogin } from '../upstreams/upstream.js';

/** An exit that was added. */
interface Added {
  readonly upstream: Upstream;
  /** The sources name it too: it had been removed before. */
  readonly isNamed: boolean;
}

/** The changes of one pool. */
interface Changes {
  readonly added: Map<string, Added>;
  /** Exits that nobody wants, and whether the sources name them: the others need not be remembered once they are out. */
  readonly removed: Map<string, { readonly isNamed: boolean }>;
}

/** What was added and removed by hand, by pool. */
export class Roster {
  readonly #changes = new Map<string, Changes>();

  /** What a pool is made of that was read anew. Whoever puts it in force asks this before. */
  compose(fromSources: Pool): readonly Upstream[] {
    const { added } = this.#of(fromSources.name);
    for (const id of added.keys()) if (fromSources.indexById.has(id)) added.delete(id);
    return this.current(fromSources);
  }

  /** What the next snapshot of a pool is made of; the very list of this one where nothing is to be changed. */
  current({ name, upstreams, indexById }: Pool): readonly Upstream[] {
    const { added, removed } = this.#of(name);
    for (const [id, { isNamed }] of removed) if (!isNamed && !indexById.has(id)) removed.delete(id);
    const more = [...added].filter(([id]) => !indexById.has(id)).map(([, { upstream }]) => upstream);
    const isLess = [...removed.keys()].some((id) => indexById.has(id));
    const isOther = [...added].some(([id, { upstream }]) => {
      const index = indexById.get(id);
      return index !== undefined && upstreams[index] !== upstream;
    });
    if (!isLess && !isOther && more.length === 0) return upstreams;
    const kept = upstreams.filter(({ id }) => !removed.has(id));
    return [...kept.map((each) => added.get(each.id)?.upstream ?? each), ...more];
  }

  /** Gives the exits that were added with this credential another login; returns them by pool. */
  relogin(credential: string, login: UpstreamLogin): ReadonlyMap<string, readonly Upstream[]> {
    const changed = new Map<string, Upstream[]>();
    for (const [pool, { added }] of this.#changes) {
      for (const [id, { upstream, isNamed }] of added) {
        if (upstream.credential !== credential) continue;
        const other = { ...upstream, login };
        added.set(id, { upstream: other, isNamed });
        changed.set(pool, [...(changed.get(pool) ?? []), other]);
      }
    }
    return changed;
  }

  /** Credentials of the exits that were added, each with its exits. */
  credentials(): ReadonlyMap<string, readonly string[]> {
    const exits = new Map<string, string[]>();
    for (const { added } of this.#changes.values())
      for (const [id, { upstream }] of added)
        if (upstream.credential !== undefined)
          exits.set(upstream.credential, [...(exits.get(upstream.credential) ?? []), id]);
    return exits;
  }

  /** Adds an exit, or takes back that it was removed. */
  add(pool: string, upstream: Upstream): void {
    const { added, removed } = this.#of(pool);
    added.set(upstream.id, { upstream, isNamed: removed.get(upstream.id)?.isNamed ?? false });
    removed.delete(upstream.id);
  }

  /** Removes an exit, one of the sources or one that was added. */
  remove(pool: string, id: string): void {
    const { added, removed } = this.#of(pool);
    removed.set(id, { isNamed: added.get(id)?.isNamed ?? true });
    added.delete(id);
  }

  #of(pool: string): Changes {
    const known = this.#changes.get(pool);
    if (known !== undefined) return known;
    const made: Changes = { added: new Map(), removed: new Map() };
    this.#changes.set(pool, made);
    return made;
  }
}
