/** What choosing sees of a pool of which only some exits are this gateway's, by a rule that is asked once for each exit. */
import { listOf, type MemberList, type Pool } from '../upstreams/pool.js';
import { rendezvous } from '../upstreams/shards.js';
import { groupsIn, type Sharing, type ShareView } from '../upstreams/sharing.js';

/** So many exits are looked at with every choice, until all are known: a big pool stops nobody. */
const FILL_STEP = 64;
const NONE = new Uint32Array(0);

/** The exits for which a rule holds, remembered until `version` changes. */
export class RuledView implements ShareView {
  list: MemberList | null = null;
  /** By index: 0 not asked yet, 1 ours, 2 not. */
  readonly #known: Uint8Array;
  #filled = 0;

  /**
   * @param rule whether an exit is ours
   * @param mayFollow whether a session may go on using an exit that isn't
   */
  constructor(
    private readonly pool: Pool,
    private readonly rule: (index: number) => boolean,
    private readonly of: {
      readonly version: number;
      readonly name: string;
      readonly whyNone: string;
      readonly mayFollow: (index: number) => boolean;
      /** Until when another gateway may have used an exit that is ours, if that was after `sinceMs`. */
      readonly othersUntilMs?: (index: number, sinceMs: number) => number;
    },
  ) {
    this.#known = new Uint8Array(pool.upstreams.length);
  }

  get version(): number {
    return this.of.version;
  }

  get whyNone(): string {
    return this.of.whyNone;
  }

  /** Goes on asking; once all are known there is a list of those that are ours. */
  fill(): this {
    if (this.list !== null) return this;
    const end = Math.min(this.#known.length, this.#filled + FILL_STEP);
    for (; this.#filled < end; this.#filled++) this.#asked(this.#filled);
    if (this.#filled === this.#known.length) this.list = listOf(this.pool, this.of.name, this.#ours());
    return this;
  }

  /** How many are ours; asks for all that were not asked yet. */
  get count(): number {
    this.#known.forEach((_, index) => this.#asked(index));
    return this.#ours().length;
  }

  isOurs(index: number, isPinned: boolean): boolean {
    return this.#asked(index) || (isPinned && this.of.mayFollow(index));
  }

  mayBecomeOurs(index: number): boolean {
    return this.of.mayFollow(index);
  }

  restedAtMs(index: number, { spacingMs, nowMs }: { spacingMs: number; nowMs: number }): number {
    const { othersUntilMs } = this.of;
    if (othersUntilMs === undefined || !this.#asked(index)) return -Infinity;
    return othersUntilMs(index, nowMs - spacingMs) + spacingMs;
  }

  #asked(index: number): boolean {
    const known = this.#known[index];
    if (known !== 0) return known === 1;
    const isOurs = this.rule(index);
    this.#known[index] = isOurs ? 1 : 2;
    return isOurs;
  }

  #ours(): Uint32Array {
    const ours: number[] = [];
    this.#known.forEach((known, index) => {
      if (known === 1) ours.push(index);
    });
    return Uint32Array.from(ours);
  }
}

/** A pool of which nothing may be used. */
export function nothingOf(pool: Pool, whyNone: string): ShareView {
  return {
    list: listOf(pool, 'none', NONE),
    whyNone,
    isOurs: () => false,
    mayBecomeOurs: () => false,
  };
}

/** Of a view only the exits for which something else holds, too. */
export function narrowed(view: ShareView, holds: (index: number) => boolean): ShareView {
  return {
    list: view.list,
    whyNone: view.whyNone,
    isOurs: (index, isPinned) => holds(index) && view.isOurs(index, isPinned),
    mayBecomeOurs: holds,
    ...(view.restedAtMs !== undefined && {
      restedAtMs: (index, rest) => view.restedAtMs?.(index, rest) ?? -Infinity,
    }),
  };
}

/** Exits are dealt out to groups by their names alone, so that no gateway can think otherwise. */
export function groupRule(pool: Pool, sharing: Sharing, group: string | null): (index: number) => boolean {
  if (group === null) return () => true;
  const groupFor = rendezvous(groupsIn(sharing));
  return (index) => groupFor({ id: pool.upstreams[index]?.id ?? '', index }) === group;
}
