/** A named set of upstreams with a strategy: an immutable snapshot, indexed when it is built. */
import { buildHashRing, hashSeeds } from './hash.js';
import type { HashRing } from './hash.js';
import type { Upstream } from './upstream.js';

/** How a pool chooses among its exits. */
export type StrategyName = 'round_robin' | 'random' | 'weighted_random' | 'least_used';

/** Exits of a pool that have something in common, as positions in `upstreams`. */
export interface MemberList {
  /** Names the list among all lists of all pools: the key of its round-robin cursor. */
  readonly key: string;
  readonly members: Uint32Array;
  /** Running sum of the members' weights: `cumulative[i]` is that of the members up to and with i. */
  readonly cumulative: Float64Array;
  /** Where a session's first exit is looked up. */
  readonly ring: HashRing;
}

/** A snapshot of a pool. `slots[i]` is the number under which the ledger knows `upstreams[i]`. */
export interface Pool {
  readonly name: string;
  readonly strategy: StrategyName;
  readonly upstreams: readonly Upstream[];
  readonly slots: Uint32Array;
  /** Index of an upstream by its id. */
  readonly indexById: ReadonlyMap<string, number>;
  /** Most exchanges at once through one exit of this pool; Infinity for none. */
  readonly slotsPerExit: number;
  /** All exits. */
  readonly all: MemberList;
  readonly byCountry: ReadonlyMap<string, MemberList>;
  readonly byTag: ReadonlyMap<string, MemberList>;
}

/** What choosing may know of the ledger. Slots are the ledger's numbers, see {@link Pool.slots}. */
export interface LedgerView {
  inFlight(slot: number): number;
  /** Most exchanges at once, for an exit that was out altogether and has just come back; Infinity for all others. */
  mostInFlight(slot: number, nowMs: number): number;
  /** Whether requests that are not on this exit yet may come to it: not when it is frozen or draining. */
  isOpenToNew(slot: number): boolean;
  /** Whether transport health and bans let this exit be used for this site now. */
  isUsable(slot: number, site: string, nowMs: number): boolean;
  /** Monotonic time at which the exit may be used again for this site; `nowMs` or less when it may now. */
  usableAtMs(slot: number, site: string): number;
}

/** What a pool is made of. */
export interface PoolSpec {
  readonly name: string;
  readonly strategy: StrategyName;
  readonly slotsPerExit: number;
  readonly upstreams: readonly Upstream[];
}

/**
 * Builds the snapshot of a pool.
 * @param spec an upstream that is named twice (same id) is taken once, where it stands first
 * @param intern gives an upstream its slot in the ledger
 */
export function buildPool(spec: PoolSpec, intern: (upstream: Upstream) => number): Pool {
  const upstreams: Upstream[] = [];
  const indexById = new Map<string, number>();
  for (const upstream of spec.upstreams) {
    if (indexById.has(upstream.id)) continue;
    indexById.set(upstream.id, upstreams.length);
    upstreams.push(upstream);
  }
  const everyIndex = upstreams.map((_, index) => index);
  const hash = hashSeeds(upstreams);
  const idOf = (index: number): string => upstreams[index]?.id ?? '';
  const memberList = (label: string, indexes: readonly number[]): MemberList => {
    const members = Uint32Array.from(indexes);
    const cumulative = runningSum(members, hash.weights);
    return { key: `${spec.name}\n${label}`, members, cumulative, ring: buildHashRing(hash, members, idOf) };
  };
  return {
    name: spec.name,
    strategy: spec.strategy,
    upstreams,
    slots: Uint32Array.from(upstreams, intern),
    indexById,
    slotsPerExit: spec.slotsPerExit,
    all: memberList('all', everyIndex),
    byCountry: groupBy(upstreams, (upstream) => (upstream.country === null ? [] : [upstream.country]), {
      memberList,
      label: 'country',
    }),
    byTag: groupBy(upstreams, (upstream) => upstream.tags, { memberList, label: 'tag' }),
  };
}

function runningSum(members: Uint32Array, weights: Float64Array): Float64Array {
  const sums = new Float64Array(members.length);
  let sum = 0;
  members.forEach((index, position) => {
    sum += weights[index] ?? 0;
    sums[position] = sum;
  });
  return sums;
}

function groupBy(
  upstreams: readonly Upstream[],
  namesOf: (upstream: Upstream) => readonly string[],
  make: { label: string; memberList: (label: string, members: readonly number[]) => MemberList },
): ReadonlyMap<string, MemberList> {
  const groups = new Map<string, number[]>();
  upstreams.forEach((upstream, index) => {
    for (const name of new Set(namesOf(upstream))) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [index]);
      else group.push(index);
    }
  });
  const lists = new Map<string, MemberList>();
  for (const [name, members] of groups) lists.set(name, make.memberList(`${make.label}=${name}`, members));
  return lists;
}

/** Keys of all member lists of a pool. */
export function listKeys(pool: Pool): string[] {
  const lists = [pool.all, ...pool.byCountry.values(), ...pool.byTag.values()];
  return lists.map((list) => list.key);
}
