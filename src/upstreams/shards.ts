/**
 * Which gateway an exit belongs to, decided by every gateway alike from the list of members, without asking.
 * It must not know how members are found, nor what a gateway does with an exit that is another's.
 */
import HashRing from 'hashring';
import { hashText, mix } from './hash.js';

/**
 * Virtual nodes of a gateway on the ring, four points each: shares then differ by less than a tenth. Not a whole number,
 * since the library multiplies it by 1/n and n and cuts: of 250 it would sometimes make 249, and move exits of others.
 */
const VNODES = 250.5;

/** Says which member owns an exit; null where there is no member. */
export type OwnerOf = (exit: { readonly id: string; readonly index: number }) => string | null;

/** By the exit's place in its list. Simple; a change of members moves nearly all. @param members in the order of all */
export function modulo(members: readonly string[]): OwnerOf {
  return ({ index }) => members[index % members.length] ?? null;
}

/** By consistent hashing: of n gateways, one that joins or leaves moves about 1/n of the exits. */
export function ring(members: readonly string[]): OwnerOf {
  if (members.length === 0) return () => null;
  const points = new HashRing([...members].sort(), 'md5', { 'vnode count': VNODES, 'max cache size': 1 });
  return ({ id }) => points.get(id);
}

/** The part of each of so many gateways that don't know each other's names. */
export function partOf(self: string, gateways: number): OwnerOf {
  return rendezvous([self, ...Array.from({ length: gateways - 1 }, (_, n) => `another ${n}`)]);
}

/** By the best score (rendezvous hashing): no table, for a list of members that is only what was last known. */
export function rendezvous(members: readonly string[]): OwnerOf {
  const seeds = members.map((member) => hashText(member, 0));
  return ({ id }) => {
    const exit = hashText(id, 1);
    let best: string | null = null;
    let bestScore = -1;
    for (let i = 0; i < members.length; i++) {
      const score = mix(seeds[i] ?? 0, exit);
      if (score <= bestScore) continue;
      best = members[i] ?? null;
      bestScore = score;
    }
    return best;
  };
}
