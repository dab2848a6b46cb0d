/**
 * A pool whose exits are leased: which of them this gateway holds, which it may ask for, and how many it keeps ahead so
 * that a request rarely waits for one. It doesn't know where leases come from.
 */
import type { Random } from '../core/random.js';
import { leaseBucket, MAX_CANDIDATES } from '../facts/lease.js';
import type { HeldLease } from '../state/fallback/held-lease.js';
import type { HeldLeases } from '../state/fallback/held-leases.js';
import { listOf, type MemberList, type Pool } from '../upstreams/pool.js';
import { isUsedByMany, type LeaseRules, type ShareView } from '../upstreams/sharing.js';

/** An exit that another gateway has is not asked for again for so long. */
const TAKEN_MS = 300;
/** Nor is one that was asked to be given back; its last holder leaves it alone longer, so that it is the asker's. */
const WANTED_MS = 8;
const HANDED_OVER_MS = 40;
/** Asked for at once, ahead of requests. */
const AHEAD_AT_ONCE = 8;
/** Exits looked at for candidates of one bucket. */
const LOOK_AT = 512;
/** Leases kept for each request of a second: each exit then serves about every other second, and renewals stay few. */
const PER_REQUEST = 1.5;
/** Kept free while there are requests. */
const SPARE = 2;
const SMOOTHING = 0.5;
/** Where the rest is learnt, a last use is remembered for so long. */
const LEARNT_KEEP_MS = 60_000;
const WHY_NONE = 'no exit is leased by this gateway, and those that are asked for are held by others';

/** What a leased pool is made of. */
export interface BrokerParts {
  readonly leases: HeldLeases;
  readonly random: Random;
  /** Gateways in the fleet. */
  gateways(): number;
  /** Whether an exit may be used at all, by its number in the ledger. */
  isSound(slot: number): boolean;
  /** Whether it would be ours while the store is away: better leased before. */
  isInPart(exit: string): boolean;
}

/** One pool. */
export class BrokerShare {
  readonly #byIndex = new Map<number, HeldLease>();
  readonly #takenUntilMs = new Map<number, number>();
  readonly #asking = new Set<number>();
  #version = -1;
  #list: MemberList | null = null;
  #nowMs = 0;
  #uses = 0;
  #rate = 0;
  /** Exits that this gateway holds, for one site. */
  readonly held: ShareView;
  /** Exits that it may ask for. */
  readonly askable: ShareView;

  constructor(
    readonly pool: Pool,
    private readonly rules: LeaseRules,
    private readonly parts: BrokerParts,
  ) {
    const heldList = (): MemberList => this.#heldList();
    this.held = {
      get list() {
        return heldList();
      },
      whyNone: WHY_NONE,
      isOurs: (index) => this.#isHeld(index),
      mayBecomeOurs: () => true,
      restedAtMs: (index, { spacingMs }) => {
        this.#catchUp();
        return (this.#byIndex.get(index)?.otherUseMs ?? -Infinity) + spacingMs;
      },
    };
    this.askable = {
      list: null,
      whyNone: WHY_NONE,
      isOurs: (index) => this.#isAskable(index),
      mayBecomeOurs: () => true,
    };
  }

  /** The time by which the views judge. */
  at(nowMs: number): this {
    this.#nowMs = nowMs;
    return this;
  }

  /** How many exits are held. */
  get count(): number {
    return this.#heldList().members.length;
  }

  /**
   * A request begins to use the exit; what it holds meanwhile, null where it isn't ours any more.
   * @param isOurs the exit needs no lease now
   */
  begin(exit: string, isOurs: boolean): HeldLease | null {
    const { leases } = this.parts;
    const held = isOurs ? leases.useOwn(this.#asked(), exit) : leases.use(this.pool.name, exit);
    if (held !== null) this.#uses++;
    return held;
  }

  /** Asks for an exit. @param isWanted whoever has it is asked to give it back; it is then soon asked for again */
  async ask(index: number, isWanted: boolean): Promise<void> {
    const isKnown = this.pool.upstreams[index] !== undefined;
    if (isKnown && !this.#asking.has(index)) await this.#askFor([index], isWanted);
  }

  /** Keeps what is likely to be needed, and gives back what is more than our part. Once a second. */
  async tend(nowMs: number): Promise<void> {
    this.#rate += SMOOTHING * (this.#uses - this.#rate);
    const isUsed = this.#uses > 0;
    this.#uses = 0;
    this.at(nowMs);
    const { leases } = this.parts;
    const part = Math.ceil((this.pool.upstreams.length * this.rules.holders) / this.parts.gateways());
    const held = leases.in(this.pool.name);
    if (held.length > part) await leases.giveBackIdle(this.pool.name, held.length - part);
    if (!isUsed) return;
    const free = held.filter(({ uses }) => uses === 0).length;
    const byRate = this.pool.strategy === 'hash' ? 0 : Math.ceil(this.#rate * PER_REQUEST);
    const wanted = Math.min(part, Math.max(byRate, held.length - free + SPARE)) - held.length;
    await Promise.all(Array.from({ length: Math.min(wanted, AHEAD_AT_ONCE) }, () => this.#askAhead()));
  }

  async #askAhead(): Promise<void> {
    const own = this.#neighbours((exit) => this.parts.isInPart(exit));
    const candidates = own.length > 0 ? own : this.#neighbours(() => true);
    if (candidates.length > 0) await this.#askFor(candidates, false);
  }

  async #askFor(indexes: readonly number[], isWanted: boolean): Promise<void> {
    for (const index of indexes) this.#asking.add(index);
    const ids = indexes.map((index) => this.pool.upstreams[index]?.id ?? '');
    try {
      const held = await this.parts.leases.take({ ...this.#asked(), candidates: ids, isWanted });
      const againMs = this.#nowMs + (isWanted ? WANTED_MS : TAKEN_MS);
      if (held !== null) this.parts.leases.done(held);
      // Of several one was given, and nothing is known of the others.
      else for (const index of indexes) this.#takenUntilMs.set(index, againMs);
    } finally {
      for (const index of indexes) this.#asking.delete(index);
    }
  }

  /** Who leases an exit after another must know when that one used it last, as long as it has to rest. */
  get #keepMs(): number {
    const { pacing, sharing } = this.pool;
    if (pacing === null || isUsedByMany(sharing)) return 0;
    return pacing.spacing === 'auto' ? LEARNT_KEEP_MS : pacing.spacing;
  }

  #asked() {
    const { holders: slots, ttlMs, idleMs } = this.rules;
    return { pool: this.pool.name, slots, ttlMs, idleMs, keepMs: this.#keepMs };
  }

  /** Exits to ask for in one call: any one of those that do, and those of its bucket. */
  #neighbours(does: (exit: string) => boolean): number[] {
    const { upstreams, slots } = this.pool;
    const start = this.parts.random.below(upstreams.length);
    const found: number[] = [];
    let bucket = -1;
    for (let step = 0; step < Math.min(LOOK_AT, upstreams.length); step++) {
      const index = (start + step) % upstreams.length;
      const exit = upstreams[index]?.id ?? '';
      const its = leaseBucket(exit);
      if (bucket >= 0 && its !== bucket) continue;
      if (!does(exit) || !this.#isAskable(index) || !this.parts.isSound(slots[index] ?? 0)) continue;
      bucket = its;
      if (found.push(index) === MAX_CANDIDATES) break;
    }
    return found;
  }

  #isAskable(index: number): boolean {
    if (this.#asking.has(index)) return false;
    this.#catchUp();
    if (this.#byIndex.has(index)) return false;
    const untilMs = this.#takenUntilMs.get(index);
    if (untilMs === undefined) return true;
    if (this.#nowMs < untilMs) return false;
    this.#takenUntilMs.delete(index);
    return true;
  }

  #isHeld(index: number): boolean {
    this.#catchUp();
    const held = this.#byIndex.get(index);
    return held !== undefined && !held.isWanted && this.parts.leases.isUsable(held, this.#nowMs);
  }

  #heldList(): MemberList {
    this.#catchUp();
    this.#list ??= listOf(this.pool, 'leased', Uint32Array.from(this.#byIndex.keys()).sort());
    return this.#list;
  }

  #catchUp(): void {
    const { leases } = this.parts;
    if (this.#version === leases.version) return;
    this.#version = leases.version;
    this.#list = null;
    for (const [index, held] of this.#byIndex)
      if (held.isWanted) this.#takenUntilMs.set(index, this.#nowMs + HANDED_OVER_MS);
    this.#byIndex.clear();
    for (const held of leases.in(this.pool.name)) {
      const index = this.pool.indexById.get(held.exit);
      if (index !== undefined) this.#byIndex.set(index, held);
    }
  }
}
