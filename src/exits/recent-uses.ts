/**
 * When an exit was last used for a site: a table of fixed size, in which the oldest of four neighbours makes room.
 * Who is forgotten counts as rested, which after a million other uses is about true.
 */

const WAYS = 4;
const SETS = 2 ** 18;

/** Last uses of about a million pairs of exit and site; 16 MiB. */
export class RecentUses {
  readonly #slots = new Uint32Array(SETS * WAYS);
  readonly #sites = new Uint32Array(SETS * WAYS);
  readonly #timesMs = new Float64Array(SETS * WAYS).fill(-Infinity);
  #site = '';
  #siteHash = hashOf('');

  /** Time of the last use; −Infinity when none is known. */
  lastMs(slot: number, site: string): number {
    const at = this.#find(slot, this.#hash(site));
    return at < 0 ? -Infinity : (this.#timesMs[at] ?? -Infinity);
  }

  note(slot: number, site: string, nowMs: number): void {
    const siteHash = this.#hash(site);
    const known = this.#find(slot, siteHash);
    const at = known < 0 ? this.#oldest(first(slot, siteHash)) : known;
    this.#slots[at] = slot;
    this.#sites[at] = siteHash;
    this.#timesMs[at] = nowMs;
  }

  #find(slot: number, siteHash: number): number {
    const start = first(slot, siteHash);
    for (let at = start; at < start + WAYS; at++) {
      if (this.#slots[at] === slot && this.#sites[at] === siteHash) return at;
    }
    return -1;
  }

  #oldest(start: number): number {
    let oldest = start;
    for (let at = start + 1; at < start + WAYS; at++) {
      if ((this.#timesMs[at] ?? 0) < (this.#timesMs[oldest] ?? 0)) oldest = at;
    }
    return oldest;
  }

  /** A thousand exits are asked about one site in a row. */
  #hash(site: string): number {
    if (site !== this.#site) {
      this.#site = site;
      this.#siteHash = hashOf(site);
    }
    return this.#siteHash;
  }
}

/** Where the four places of a pair begin. */
function first(slot: number, siteHash: number): number {
  let mixed = Math.imul(slot + 1, 0x9e3779b1) ^ siteHash;
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return ((mixed ^ (mixed >>> 13)) & (SETS - 1)) * WAYS;
}

/** FNV-1a over UTF-16 units. Two sites that fall together rest together: no harm. */
function hashOf(site: string): number {
  let state = 0x811c9dc5;
  for (let i = 0; i < site.length; i++) state = Math.imul(state ^ site.charCodeAt(i), 0x01000193);
  return state >>> 0;
}
