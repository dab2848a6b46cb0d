/**
 * What choosing looks things up in, as plain arrays: where exits stand for hashing, and who is in which country,
 * city, system or under which tag. A function of the exits alone, so that a worker thread can build it for a million
 * of them and hand the arrays over.
 */
import { buildHashRing, hashSeeds, RENDEZVOUS_MAX } from './hash.js';
import type { HashSeeds } from './hash.js';
import type { Upstream } from './upstream.js';

/** By what exits are grouped. */
export type GroupKind = 'country' | 'city' | 'asn' | 'tag';

/** The kinds, in the order of the table. */
export const GROUP_KINDS: readonly GroupKind[] = ['country', 'city', 'asn', 'tag'];

/** Points of a ring; empty for few members. See `HashRing`. */
export interface RingPoints {
  readonly points: Uint32Array;
  readonly owners: Uint32Array;
}

/** All groups of one kind, one behind the other. */
export interface PackedGroups {
  readonly names: readonly string[];
  /** `members` of group i end before `memberEnds[i]`, its ring's points before `pointEnds[i]`. */
  readonly memberEnds: Uint32Array;
  readonly pointEnds: Uint32Array;
  readonly members: Uint32Array;
  readonly points: Uint32Array;
  readonly owners: Uint32Array;
}

/** The index of a pool. Holds no functions: it can be sent from thread to thread. */
export interface PoolIndex {
  readonly hash: HashSeeds;
  /** All indexes in order, and the ring of all. */
  readonly members: Uint32Array;
  readonly ring: RingPoints;
  /** Null where an exit takes its place from the request (a template): then every exit has to be asked. */
  readonly groups: Readonly<Record<GroupKind, PackedGroups | null>>;
}

type NamesOf = (upstream: Upstream) => readonly string[];

const none: readonly string[] = [];
const namesOf: Readonly<Record<GroupKind, NamesOf>> = {
  country: ({ country }) => (country === null ? none : [country]),
  city: ({ city }) => (city === null ? none : [city]),
  asn: ({ asn }) => (asn === null ? none : [String(asn)]),
  tag: ({ tags }) => tags,
};

/** Indexes the exits of a pool, at most two million, each id once. */
export function buildPoolIndex(upstreams: readonly Upstream[]): PoolIndex {
  const hash = hashSeeds(upstreams);
  const idOf = (index: number): string => upstreams[index]?.id ?? '';
  const members = Uint32Array.from(upstreams.keys());
  const ring = pointsOnly(buildHashRing(hash, members, idOf));
  const groupsOf = (kind: GroupKind): PackedGroups | null =>
    upstreams.some(({ template }) => template?.fills(kind) === true)
      ? null
      : packGroups(upstreams, namesOf[kind], ring);
  return {
    hash,
    members,
    ring,
    groups: {
      country: groupsOf('country'),
      city: groupsOf('city'),
      asn: groupsOf('asn'),
      tag: groupsOf('tag'),
    },
  };
}

/** Every array buffer of an index, for handing it over without a copy. */
export function buffersOf(index: PoolIndex): ArrayBuffer[] {
  const groups = GROUP_KINDS.map((kind) => index.groups[kind]).filter((group) => group !== null);
  const arrays = [
    ...[index.hash.seeds, index.hash.weights, index.members, index.ring.points, index.ring.owners],
    ...groups.flatMap((group) => [group.memberEnds, group.pointEnds, group.members]),
    ...groups.flatMap((group) => [group.points, group.owners]),
  ];
  return [...new Set(arrays.map((array) => array.buffer as ArrayBuffer))];
}

function pointsOnly({ points, owners }: RingPoints): RingPoints {
  return { points, owners };
}

function packGroups(upstreams: readonly Upstream[], names: NamesOf, ring: RingPoints): PackedGroups {
  const groups = new Map<string, number[]>();
  upstreams.forEach((upstream, index) => {
    for (const name of names(upstream)) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [index]);
      else if (group[group.length - 1] !== index) group.push(index);
    }
  });
  const lists = [...groups.values()].map((group) => Uint32Array.from(group));
  const rings = ringsWithin(ring, lists, upstreams.length);
  return {
    names: [...groups.keys()],
    memberEnds: endsOf(lists.map((list) => list.length)),
    pointEnds: endsOf(rings.map((each) => each.points.length)),
    members: joined(lists),
    points: joined(rings.map((ring) => ring.points)),
    owners: joined(rings.map((ring) => ring.owners)),
  };
}

/**
 * The rings of these lists; empty for small ones. An exit has the same points in every ring it is in, so each is a part of
 * the ring of all, in its order, and nothing has to be sorted again.
 */
function ringsWithin(ring: RingPoints, lists: readonly Uint32Array[], count: number): RingPoints[] {
  const large = lists.flatMap((list, place) => (list.length > RENDEZVOUS_MAX ? [place] : []));
  const ends = new Uint32Array(count + 1);
  for (const place of large) for (const index of lists[place] ?? []) ends[index] = (ends[index] ?? 0) + 1;
  for (let index = 1; index <= count; index++) ends[index] = (ends[index] ?? 0) + (ends[index - 1] ?? 0);
  // Filled from behind, so that what was the end of an exit's lists becomes their start.
  const listsOf = new Uint32Array(ends[count] ?? 0);
  for (const place of large)
    for (const index of lists[place] ?? []) listsOf[(ends[index] = (ends[index] ?? 0) - 1)] = place;
  const sizes = new Uint32Array(lists.length);
  const eachPoint = (visit: (place: number, at: number, owner: number) => void): void => {
    ring.owners.forEach((owner, at) => {
      for (let next = ends[owner] ?? 0; next < (ends[owner + 1] ?? 0); next++)
        visit(listsOf[next] ?? 0, at, owner);
    });
  };
  eachPoint((place) => (sizes[place] = (sizes[place] ?? 0) + 1));
  const rings = Array.from(sizes, (size) => ({
    points: new Uint32Array(size),
    owners: new Uint32Array(size),
  }));
  sizes.fill(0);
  eachPoint((place, at, owner) => {
    const next = sizes[place] ?? 0;
    sizes[place] = next + 1;
    const own = rings[place];
    if (own === undefined) return;
    own.points[next] = ring.points[at] ?? 0;
    own.owners[next] = owner;
  });
  return rings;
}

function endsOf(lengths: readonly number[]): Uint32Array {
  let end = 0;
  return Uint32Array.from(lengths, (length) => (end += length));
}

function joined(parts: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
