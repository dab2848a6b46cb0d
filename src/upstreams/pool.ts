/** A named set of upstreams with a strategy: an immutable snapshot over an index that was built beforehand. */
import type { Random } from '../core/random.js';
import { buildHashRing } from './hash.js';
import type { HashRing, HashSeeds } from './hash.js';
import { Ketama } from './ketama.js';
import { buildPoolIndex } from './pool-index.js';
import type { GroupKind, PackedGroups, PoolIndex, RingPoints } from './pool-index.js';
import type { Sharing } from './sharing.js';
import type { Upstream } from './upstream.js';

/** How a pool chooses among its exits. */
export type StrategyName =
  | 'round_robin'
  | 'random'
  | 'weighted_random'
  | 'least_used'
  | 'least_recently_used_per_site'
  | 'fastest'
  | 'adaptive'
  | 'hash';

/** What the strategy `hash` goes by. */
export type HashOn = 'session' | 'site' | 'client' | 'url';

/** How hashing finds the exit of a key; see `hash.ts` and `ketama.ts`. */
export type HashAlgorithm = 'multi_probe' | 'ketama';

/** How exits of a pool are spared at each site. */
export interface Pacing {
  /** Rest between two uses of one exit for one site, in ms; 0 for none; `auto` learns what each site tolerates. */
  readonly spacing: number | 'auto';
  /** Most requests to one site at once; Infinity for no limit. */
  readonly siteSlots: number;
}

/** What choosing may know of the pace at one site. */
export interface PaceView {
  /** What is asked for now, in ms. */
  readonly spacingMs: number;
  /** Whether as many requests as may be are under way to the site. */
  readonly isFull: boolean;
  /** Monotonic time from which the exit is rested; Infinity while a request waits for its answer. */
  restedAtMs(slot: number): number;
  /** Monotonic time of the last use; −Infinity when there was none, or nobody remembers. */
  lastUsedMs(slot: number): number;
  /** How promising the exit is, drawn by chance from what is known: 1 for one like any other, less for bad or slow ones. */
  promise(slot: number, nowMs: number, random: Random): number;
}

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

/** The lists of one kind by name. */
export interface Groups {
  /** The list of this name, undefined where no exit has it. */
  get(name: string): MemberList | undefined;
}

/** A snapshot of a pool. `slots[i]` is the number under which the ledger knows `upstreams[i]`. */
export interface Pool {
  readonly name: string;
  readonly strategy: StrategyName;
  readonly hashOn: HashOn;
  readonly algorithm: HashAlgorithm;
  readonly upstreams: readonly Upstream[];
  readonly slots: Uint32Array;
  /** Index of an upstream by its id. */
  readonly indexById: Pick<ReadonlyMap<string, number>, 'get' | 'has' | 'size'>;
  /** Most exchanges at once through one exit of this pool; Infinity for none. */
  readonly slotsPerExit: number;
  /** Null where no exit is spared and nothing has to be learnt. */
  readonly pacing: Pacing | null;
  /** How gateways share the exits; null where each uses all of them for all sites, Redis or not. */
  readonly sharing: Sharing | null;
  /** All exits. */
  readonly all: MemberList;
  readonly byCountry: Groups;
  readonly byCity: Groups;
  readonly byAsn: Groups;
  readonly byTag: Groups;
  /** The ring of `algorithm: ketama`, or null. */
  readonly ketama: Ketama | null;
}

/** What choosing may know of the ledger. Slots are the ledger's numbers, see {@link Pool.slots}. */
export interface LedgerView {
  inFlight(slot: number): number;
  /**
   * Most exchanges at once with which an exit may take one for this site, where it was set aside, there or altogether, and
   * has just come back; Infinity for all others.
   */
  mostInFlight(slot: number, site: string, nowMs: number): number;
  /** Whether requests that are not on this exit yet may come to it: not when it is frozen or draining. */
  isOpenToNew(slot: number): boolean;
  /** Whether transport health and bans let this exit be used for this site now. */
  isUsable(slot: number, site: string, nowMs: number): boolean;
  /** Monotonic time at which the exit may be used again for this site; `nowMs` or less when it may now. */
  usableAtMs(slot: number, site: string): number;
  /** Smoothed time to the first byte; 0 for an exit that was never tried, Infinity for one that never answered. */
  firstByteMs(slot: number): number;
  /** Monotonic time of the last use for this site; −Infinity when there was none, or nobody remembers. */
  lastUsedMs(slot: number, site: string): number;
}

/** What a pool is made of, beside its upstreams. */
export interface PoolRules {
  readonly name: string;
  readonly strategy: StrategyName;
  readonly slotsPerExit: number;
  /** Default: null. */
  readonly pacing?: Pacing | null;
  /** Default: null. */
  readonly sharing?: Sharing | null;
  /** Default: session. */
  readonly hashOn?: HashOn;
  /** Default: multi_probe. */
  readonly algorithm?: HashAlgorithm;
}

/** What a pool is made of. */
export interface PoolSpec extends PoolRules {
  readonly upstreams: readonly Upstream[];
}

/** The parts of a snapshot whose making takes time with a million exits; each id once. */
export interface PoolParts {
  readonly upstreams: readonly Upstream[];
  readonly indexById: Pick<ReadonlyMap<string, number>, 'get' | 'has' | 'size'>;
  readonly slots: Uint32Array;
  readonly index: PoolIndex;
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
  const slots = Uint32Array.from(upstreams, intern);
  return assemblePool(spec, { upstreams, indexById, slots, index: buildPoolIndex(upstreams) });
}

/** The exit of this id in the first of these pools that has it. */
export function upstreamIn(pools: Iterable<Pool>, id: string): Upstream | null {
  for (const { indexById, upstreams } of pools) {
    const index = indexById.get(id);
    if (index !== undefined) return upstreams[index] ?? null;
  }
  return null;
}

/** Puts a snapshot together from parts; costs next to nothing at any size. */
export function assemblePool(rules: PoolRules, parts: PoolParts): Pool {
  const { index, upstreams } = parts;
  const all = new Members(`${rules.name}\nall`, index.members, { hash: index.hash, points: index.ring });
  const groupsOf = (kind: GroupKind): Groups => {
    const packed = index.groups[kind];
    return packed === null
      ? { get: () => all }
      : new PackedLists(`${rules.name}\n${kind}`, packed, index.hash);
  };
  return {
    name: rules.name,
    strategy: rules.strategy,
    hashOn: rules.hashOn ?? 'session',
    algorithm: rules.algorithm ?? 'multi_probe',
    upstreams,
    slots: parts.slots,
    indexById: parts.indexById,
    slotsPerExit: rules.slotsPerExit,
    pacing: rules.pacing ?? null,
    sharing: rules.sharing ?? null,
    all,
    byCountry: groupsOf('country'),
    byCity: groupsOf('city'),
    byAsn: groupsOf('asn'),
    byTag: groupsOf('tag'),
    ketama: rules.algorithm === 'ketama' ? new Ketama(upstreams) : null,
  };
}

/** A list of some exits of a pool, by index in rising order. @param name names it among all lists of the pool */
export function listOf(pool: Pool, name: string, members: Uint32Array): MemberList {
  const idOf = (index: number): string => pool.upstreams[index]?.id ?? '';
  const points = (): RingPoints => buildHashRing(pool.all.ring, members, idOf);
  return new Members(`${pool.name}\n${name}`, members, { hash: pool.all.ring, points });
}

/** One list; what only some strategies want is made when it is first wanted. */
class Members implements MemberList {
  #cumulative: Float64Array | null = null;
  #ring: HashRing | null = null;

  constructor(
    readonly key: string,
    readonly members: Uint32Array,
    private readonly of: { readonly hash: HashSeeds; readonly points: RingPoints | (() => RingPoints) },
  ) {}

  get cumulative(): Float64Array {
    this.#cumulative ??= runningSum(this.members, this.of.hash.weights);
    return this.#cumulative;
  }

  get ring(): HashRing {
    const { hash, points } = this.of;
    this.#ring ??= { ...hash, members: this.members, ...(typeof points === 'function' ? points() : points) };
    return this.#ring;
  }
}

/** The lists of one kind, views into the packed arrays, made when they are first asked for. */
class PackedLists implements Groups {
  readonly #places = new Map<string, number>();
  readonly #lists = new Map<string, Members>();

  constructor(
    private readonly key: string,
    private readonly packed: PackedGroups,
    private readonly hash: HashSeeds,
  ) {
    packed.names.forEach((name, place) => this.#places.set(name, place));
  }

  get(name: string): MemberList | undefined {
    const known = this.#lists.get(name);
    if (known !== undefined) return known;
    const place = this.#places.get(name);
    if (place === undefined) return undefined;
    const { packed } = this;
    const cut = (of: Uint32Array, ends: Uint32Array): Uint32Array =>
      of.subarray(place === 0 ? 0 : ends[place - 1], ends[place]);
    const points = cut(packed.points, packed.pointEnds);
    const owners = cut(packed.owners, packed.pointEnds);
    const list = new Members(`${this.key}=${name}`, cut(packed.members, packed.memberEnds), {
      hash: this.hash,
      points: { points, owners },
    });
    this.#lists.set(name, list);
    return list;
  }
}

function runningSum(members: Uint32Array, weights: Float64Array): Float64Array {
  const sums = new Float64Array(members.length);
  let sum = 0;
  for (let position = 0; position < members.length; position++) {
    sum += weights[members[position] ?? 0] ?? 0;
    sums[position] = sum;
  }
  return sums;
}
