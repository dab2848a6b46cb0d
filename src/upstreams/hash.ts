/**
 * Consistent hashing of exits: which exit a key gets, the same in every process for equal pools, whatever their order.
 * Losing an exit moves only the keys it had; its return brings them back.
 *
 * Among up to {@link RENDEZVOUS_MAX} exits every one is scored for the key and the best one wins (rendezvous hashing,
 * weights exact: score `−ln(u) / weight`). One point per exit on a ring would be lopsided there: of two exits in
 * twenty pools one would get more than 65 % of the keys. Above that, multi-probe consistent hashing (Appleton and
 * O'Reilly, 2015): each exit has one point of 32 bits from its id (with weights: about four per unit of weight),
 * each key 21 probes, and the exit nearest clockwise to any probe wins. The switch depends on the size of the list
 * (the pool, or those of a country or tag) alone, never on what is usable now.
 */
import type { Upstream } from './upstream.js';

/** Largest list in which every exit is scored. */
export const RENDEZVOUS_MAX = 256;

const PROBES = 21;
const POINTS_PER_WEIGHT = 4;
const MAX_POINTS_PER_EXIT = 256;
const RING = 2 ** 32;
/** Owners are packed below the point for sorting: 32 + 21 bits are exact in a float. */
const OWNER_RANGE = 2 ** 21;

/** The exits of a pool as hashing sees them, by index. */
export interface HashSeeds {
  /** The 32 bits that stand for the id. */
  readonly seeds: Uint32Array;
  readonly weights: Float64Array;
  /** Whether any weight is not 1; then the number of points follows the weight. */
  readonly isWeighted: boolean;
}

/** Where some exits of a pool stand. Built once, never changed. */
export interface HashRing extends HashSeeds {
  readonly members: Uint32Array;
  /** Points in rising order; empty for few members. */
  readonly points: Uint32Array;
  /** Index of the exit to which `points[i]` belongs. */
  readonly owners: Uint32Array;
}

/** What hashing has to know of the exits of a pool; shared by all its rings. */
export function hashSeeds(upstreams: readonly Upstream[]): HashSeeds {
  return {
    seeds: Uint32Array.from(upstreams, (upstream) => hashText(upstream.id, 0)),
    weights: Float64Array.from(upstreams, (upstream) => upstream.weight),
    isWeighted: upstreams.some((upstream) => upstream.weight !== 1),
  };
}

/**
 * Builds the ring of these members, at most two million. An exit has the same points in every ring it is in.
 * @param idOf id of the exit with this index
 */
export function buildHashRing(
  hash: HashSeeds,
  members: Uint32Array,
  idOf: (index: number) => string,
): HashRing {
  if (members.length <= RENDEZVOUS_MAX) {
    return { ...hash, members, points: new Uint32Array(0), owners: new Uint32Array(0) };
  }
  if (members.length > OWNER_RANGE) throw new RangeError('a pool holds at most 2^21 exits');
  const counts = Uint16Array.from(members, (index) =>
    hash.isWeighted ? pointsOf(hash.weights[index] ?? 1) : 1,
  );
  const packed = new Float64Array(counts.reduce((sum, count) => sum + count, 0));
  let next = 0;
  members.forEach((index, position) => {
    const count = counts[position] ?? 1;
    for (let i = 0; i < count; i++) packed[next++] = mix(hash.seeds[index] ?? 0, i) * OWNER_RANGE + position;
  });
  packed.sort();
  const points = Uint32Array.from(packed, (value) => Math.floor(value / OWNER_RANGE));
  const owners = Uint32Array.from(packed, (value) => members[value % OWNER_RANGE] ?? 0);
  orderTies(points, owners, idOf);
  return { ...hash, members, points, owners };
}

/**
 * The exit of this key among those that may be used.
 * @returns index of the exit in its pool, -1 where none may be used
 */
export function pickByHash(ring: HashRing, key: string, isEligible: (index: number) => boolean): number {
  const low = hashText(key, 1);
  const high = hashText(key, 2);
  if (ring.points.length === 0) return pickByScore(ring, low ^ Math.imul(high, 31), isEligible);
  let best = -1;
  let bestDistance = Infinity;
  for (let probe = 0; probe < PROBES; probe++) {
    const at = mix(low ^ Math.imul(probe, 0x9e3779b9), high);
    const start = successor(ring.points, at);
    for (let step = 0; step < ring.points.length; step++) {
      const position = (start + step) % ring.points.length;
      const distance = distanceTo(ring.points[position] ?? 0, at, start + step >= ring.points.length);
      if (distance >= bestDistance) break;
      const owner = ring.owners[position] ?? 0;
      if (!isEligible(owner)) continue;
      best = owner;
      bestDistance = distance;
      break;
    }
    if (best < 0) return -1;
  }
  return best;
}

function distanceTo(point: number, from: number, isWrapped: boolean): number {
  return isWrapped ? point + RING - from : point - from;
}

function pickByScore(ring: HashRing, key: number, isEligible: (index: number) => boolean): number {
  let best = -1;
  let bestScore = Infinity;
  for (let position = 0; position < ring.members.length; position++) {
    const index = ring.members[position] ?? 0;
    const uniform = (mix(ring.seeds[index] ?? 0, key) + 0.5) / RING;
    // Without weights the logarithm changes no order.
    const score = ring.isWeighted ? -Math.log(uniform) / (ring.weights[index] ?? 1) : -uniform;
    if (score < bestScore && isEligible(index)) {
      best = index;
      bestScore = score;
    }
  }
  return best;
}

function pointsOf(weight: number): number {
  return Math.min(Math.max(Math.round(weight * POINTS_PER_WEIGHT), 1), MAX_POINTS_PER_EXIT);
}

/** Equal points stand in the order of their ids, so that the order of the list decides nothing. */
function orderTies(points: Uint32Array, owners: Uint32Array, idOf: (index: number) => string): void {
  const idAt = (i: number): string => idOf(owners[i] ?? 0);
  for (let i = 1; i < points.length; i++) {
    for (let k = i; k > 0 && points[k] === points[k - 1] && idAt(k) < idAt(k - 1); k--) {
      const owner = owners[k] ?? 0;
      owners[k] = owners[k - 1] ?? 0;
      owners[k - 1] = owner;
    }
  }
}

/** First position whose point is not below `value`; `points.length` where all are. */
function successor(points: Uint32Array, value: number): number {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((points[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** 32 bits of a text (FNV-1a over its UTF-16 units, then mixed). */
export function hashText(text: string, seed: number): number {
  let state = 0x811c9dc5 ^ seed;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return mix(state, seed);
}

/** Two words to one, every bit of either deciding about every bit of it (MurmurHash3's finaliser, twice). */
export function mix(a: number, b: number): number {
  let state = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ b;
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}
