/**
 * Which key of keys does what, and what a rotation has to do next. PURE: everything is decided from rows and from who is
 * alive, so whoever takes a rotation over after a crash goes on where it was. It knows no key's bytes.
 */
import type { InstanceRow, KeyRow } from '../storage/ports.js';

/** What is known of a key. */
export type KeyFacts = Pick<KeyRow, 'id' | 'term' | 'state'>;

interface KeyPowers {
  /** New secrets are sealed under it. */
  readonly seals: boolean;
  /** What is under it can be opened. */
  readonly opens: boolean;
  /** What it becomes; null: it stays what it is. */
  readonly next: KeyRow['state'] | null;
}

/** The states. A key that is `pending` already opens: somebody may hear of its promotion earlier. */
export const keyStates: Readonly<Record<KeyRow['state'], KeyPowers>> = {
  derive: { seals: false, opens: false, next: null },
  pending: { seals: false, opens: true, next: 'primary' },
  primary: { seals: true, opens: true, next: 'retired' },
  retired: { seals: false, opens: true, next: 'destroyed' },
  destroyed: { seals: false, opens: false, next: null },
};

const newestOf = <Key extends KeyFacts>(keys: readonly Key[]): Key | null =>
  keys.reduce<Key | null>((best, key) => (best === null || key.term > best.term ? key : best), null);

/** The key that new secrets are sealed under. */
export const sealingKey = <Key extends KeyFacts>(keys: readonly Key[]): Key | null =>
  newestOf(keys.filter(({ state }) => keyStates[state].seals));

/** The newest key that opens; what a gateway tells the others. */
export const newestKey = <Key extends KeyFacts>(keys: readonly Key[]): Key | null =>
  newestOf(keys.filter(({ state }) => keyStates[state].opens));

/** The term of the next key. */
export const nextTerm = (keys: readonly KeyFacts[]): number => (newestOf(keys)?.term ?? 0) + 1;

/** What the next step is decided from. */
export interface RotationFacts {
  readonly keys: readonly KeyFacts[];
  /** Gateways that live. */
  readonly live: readonly InstanceRow[];
  /** Ids of the keys that records are under. */
  readonly inUse: ReadonlySet<string>;
}

/** What becomes of keys; all of it or nothing. */
export type KeyMoves = readonly {
  readonly id: string;
  readonly from: KeyRow['state'];
  readonly to: KeyRow['state'];
}[];

export type RotationStep =
  | { readonly kind: 'nothing' }
  /** These gateways don't know the new key yet. */
  | { readonly kind: 'wait'; readonly key: KeyFacts; readonly waitsFor: readonly string[] }
  /** All know it: it becomes what seals. */
  | { readonly kind: 'promote'; readonly key: KeyFacts; readonly moves: KeyMoves }
  /** Records under `from` go to `to`. */
  | { readonly kind: 'rewrap'; readonly from: KeyFacts; readonly to: KeyFacts };

/**
 * The next step: a new key is first made known, then used, then records go over to it. A gateway that is sealed is not waited
 * for: it seals and opens nothing, and reads all keys when it opens.
 */
export function nextStep({ keys, live, inUse }: RotationFacts): RotationStep {
  const pending = newestOf(keys.filter(({ state }) => state === 'pending'));
  const primary = sealingKey(keys);
  if (pending !== null) {
    const terms = new Map(keys.map(({ id, term }) => [id, term]));
    const knows = ({ newestKek }: InstanceRow): boolean =>
      newestKek === null || (terms.get(newestKek) ?? 0) >= pending.term;
    const waitsFor = live.filter((instance) => !knows(instance)).map(({ id }) => id);
    if (waitsFor.length > 0) return { kind: 'wait', key: pending, waitsFor };
    return {
      kind: 'promote',
      key: pending,
      moves: movesOf([pending, ...(primary === null ? [] : [primary])]),
    };
  }
  const from = keys.find(({ id, state }) => state === 'retired' && inUse.has(id));
  return from === undefined || primary === null ? { kind: 'nothing' } : { kind: 'rewrap', from, to: primary };
}

/** Each key to its next state. */
export function movesOf(keys: readonly KeyFacts[]): KeyMoves {
  return keys.flatMap(({ id, state }) => {
    const to = keyStates[state].next;
    return to === null ? [] : [{ id, from: state, to }];
  });
}

/** Whether records that leave a key get new keys of their own: a later key was made because an earlier one may be known to others. */
export function mustReencrypt(
  from: KeyFacts,
  keys: readonly KeyFacts[],
  compromised: ReadonlySet<string>,
): boolean {
  return keys.some(({ id, term }) => term > from.term && compromised.has(id));
}
