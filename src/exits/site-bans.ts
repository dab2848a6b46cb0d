/**
 * What is held against exits for single sites: a sparse overlay, bounded. Nearly all exits have no entry at all.
 */
import { isAside, noBan } from '../facts/ban.js';
import type { BanState } from '../facts/ban.js';

/** An exit at a site. */
export interface SiteRecord {
  readonly ban: BanState;
  /** Suspect answers within the window that began at `suspectMs`. */
  readonly suspects: number;
  readonly suspectMs: number;
}

/** An exit of which nothing is known at a site. */
export const noRecord: SiteRecord = { ban: noBan, suspects: 0, suspectMs: -Infinity };

/** One more answer that looks like a block; those before it count within the window only. */
export function withSuspect(before: SiteRecord, nowMs: number, windowMs: number): SiteRecord {
  const isNew = nowMs - before.suspectMs > windowMs;
  return {
    ban: before.ban,
    suspects: isNew ? 1 : before.suspects + 1,
    suspectMs: isNew ? nowMs : before.suspectMs,
  };
}

/** Told when an exit goes out for a site (1), or comes back or is forgotten (−1). */
export type OnAside = (slot: number, site: string, by: 1 | -1) => void;

/** Entries looked at for each new one when the overlay is full. */
const SWEEP_STEPS = 16;

/** Map of slot to map of site to record. */
export class SiteBans {
  readonly #bySlot = new Map<number, Map<string, SiteRecord>>();
  #sweep: MapIterator<[number, Map<string, SiteRecord>]>;
  #size = 0;

  /**
   * @param maxEntries most records held; the stalest of a few goes when there are more
   * @param forgetMs a record is stale when nothing happened for this long after its ban ended
   */
  constructor(
    private readonly maxEntries: number,
    private readonly forgetMs: () => number,
    private readonly onAside: OnAside,
  ) {
    this.#sweep = this.#bySlot.entries();
  }

  get size(): number {
    return this.#size;
  }

  get(slot: number, site: string): SiteRecord | undefined {
    return this.#bySlot.get(slot)?.get(site);
  }

  has(slot: number): boolean {
    return this.#bySlot.has(slot);
  }

  /** Records of one exit. */
  of(slot: number): Iterable<[string, SiteRecord]> {
    return this.#bySlot.get(slot) ?? [];
  }

  /** Everything, as slot, site and record. */
  *all(): Generator<[number, string, SiteRecord]> {
    for (const [slot, sites] of this.#bySlot) {
      for (const [site, record] of sites) yield [slot, site, record];
    }
  }

  /** Records of one site, as they are now, by slot. */
  at(site: string): [number, SiteRecord][] {
    const found: [number, SiteRecord][] = [];
    for (const [slot, sites] of this.#bySlot) {
      const record = sites.get(site);
      if (record !== undefined) found.push([slot, record]);
    }
    return found;
  }

  /** Puts a record in place; one that says nothing is dropped. */
  set(slot: number, site: string, record: SiteRecord, nowMs: number): void {
    const before = this.get(slot, site);
    if (record.ban.strikes === 0 && !isAside(record.ban) && record.suspects === 0) {
      if (before !== undefined) this.delete(slot, site);
      return;
    }
    if (before === undefined && this.#size >= this.maxEntries) this.#makeRoom(nowMs);
    let sites = this.#bySlot.get(slot);
    if (sites === undefined) this.#bySlot.set(slot, (sites = new Map<string, SiteRecord>()));
    sites.set(site, record);
    if (before === undefined) this.#size++;
    this.#tell(slot, site, { before, after: record });
  }

  delete(slot: number, site: string): void {
    const sites = this.#bySlot.get(slot);
    const before = sites?.get(site);
    if (sites === undefined || before === undefined) return;
    sites.delete(site);
    this.#size--;
    if (sites.size === 0) this.#bySlot.delete(slot);
    this.#tell(slot, site, { before, after: undefined });
  }

  /** Drops every stale record. */
  sweep(nowMs: number): void {
    for (const [slot, sites] of this.#bySlot) this.#sweepSlot(slot, sites, nowMs);
  }

  #tell(
    slot: number,
    site: string,
    change: { before: SiteRecord | undefined; after: SiteRecord | undefined },
  ): void {
    const was = change.before !== undefined && isAside(change.before.ban);
    const is = change.after !== undefined && isAside(change.after.ban);
    if (was !== is) this.onAside(slot, site, is ? 1 : -1);
  }

  /** Drops what is stale in a few places, or else the oldest record of the last of them. */
  #makeRoom(nowMs: number): void {
    const sizeBefore = this.#size;
    let oldest: [slot: number, site: string] | null = null;
    for (let step = 0; step < SWEEP_STEPS && this.#size === sizeBefore; step++) {
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = this.#bySlot.entries();
        continue;
      }
      const [slot, sites] = next.value;
      this.#sweepSlot(slot, sites, nowMs);
      for (const site of sites.keys()) {
        oldest = [slot, site];
        break;
      }
    }
    if (this.#size === sizeBefore && oldest !== null) this.delete(oldest[0], oldest[1]);
  }

  #sweepSlot(slot: number, sites: Map<string, SiteRecord>, nowMs: number): void {
    for (const [site, record] of sites) {
      const { ban, suspectMs } = record;
      const sinceMs = Math.max(ban.untilMs, ban.changedMs, suspectMs);
      if (nowMs > sinceMs + this.forgetMs()) this.delete(slot, site);
    }
  }
}
