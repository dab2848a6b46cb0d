/**
 * The ring that memcached clients use (libketama), for crawlers that compute the exit themselves: 160 points an exit
 * from MD5, as the package `hashring` makes them. An exit's name on the ring is `host:port` or `user@host:port`,
 * with `protocol://` before it where the protocol isn't http.
 */
import HashRing from 'hashring';
import type { Upstream } from './upstream.js';

/** More exits would make the ring slow: it is built at 0.2 ms an exit. */
export const KETAMA_MAX = 1000;

/** Hashes of an exit; four points come of each. */
const HASHES_PER_EXIT = 40;
/** Never the count of an exit: `hashring` would else work the count out itself, and lose one by rounding. */
const NO_COUNT = 0.5;

/** How an exit is called on the ring. */
export function ketamaName(upstream: Upstream): string {
  const host = upstream.host.includes(':') ? `[${upstream.host}]` : upstream.host;
  const user = upstream.login === null ? '' : `${upstream.login.username}@`;
  const protocol = upstream.protocol === 'http' ? '' : `${upstream.protocol}://`;
  return `${protocol}${user}${host}:${upstream.port}`;
}

/** The ring of one pool. Built once, at the first question. */
export class Ketama {
  #ring: HashRing | null = null;
  readonly #indexes = new Map<string, number>();

  /** @param upstreams at most {@link KETAMA_MAX} */
  constructor(private readonly upstreams: readonly Upstream[]) {
    upstreams.forEach((upstream, index) => this.#indexes.set(ketamaName(upstream), index));
  }

  /** The exit of this key, or the next on the ring that may be used; −1 where none may. */
  pick(key: string, isEligible: (index: number) => boolean): number {
    this.#ring ??= this.#build();
    const first = this.#indexOf(this.#ring.get(key));
    if (first < 0 || isEligible(first)) return first;
    for (const name of this.#ring.range(key)) {
      const index = this.#indexOf(name);
      if (isEligible(index)) return index;
    }
    return -1;
  }

  #indexOf(name: string | undefined): number {
    return name === undefined ? -1 : (this.#indexes.get(name) ?? -1);
  }

  /** Counts in whole numbers, as other clients do: floor(40 × exits × weight / sum of weights). */
  #build(): HashRing {
    const { upstreams } = this;
    const total = upstreams.reduce((sum, { weight }) => sum + weight, 0);
    const nodes: Record<string, { vnodes: number }> = {};
    for (const upstream of upstreams) {
      const count = Math.floor((HASHES_PER_EXIT * upstreams.length * upstream.weight) / total);
      nodes[ketamaName(upstream)] = { vnodes: Math.max(count, 1) };
    }
    return new HashRing(nodes, 'md5', { 'vnode count': NO_COUNT });
  }
}
