/** The credentials of one policy, in buckets by what its filters ask of the context. Knows numbers and filters, no credential. */
import type { Random } from '../core/random.js';
import { CandidateList } from './candidate-list.js';
import { bucketsOf, isByContext, passes, WHOLE, type Filtered } from './credential-filters.js';
import type { Policy } from './policy-document.js';

/** How a credential stands for a policy. */
export interface Standing {
  readonly isUsable: boolean;
  /** Weight or rank; null: it may not be chosen now. */
  readonly value: number | null;
}

/** The list. */
export class PolicyList {
  total = 0;
  usable = 0;
  /** Credentials that have no more of their rate in this policy, and until when. */
  readonly limited = new Map<number, number>();
  /** Credentials below this number were looked at; for lists that are made while there are credentials. */
  seen = 0;
  readonly #buckets = new Map<string, CandidateList>();
  /** Where each stands; null where there is but one bucket. */
  readonly #where: Map<number, readonly string[]> | null;

  constructor(
    public policy: Policy,
    private readonly random: Random,
  ) {
    this.#where = isByContext(policy) ? new Map() : null;
    if (this.#where === null) this.#buckets.set(WHOLE, new CandidateList(policy.selector, random));
  }

  /** Whether a changed policy has the same credentials in the same order. */
  fits({ type, selector, slots, filters }: Policy): boolean {
    const { policy } = this;
    return (
      type === policy.type &&
      selector === policy.selector &&
      slots === policy.slots &&
      JSON.stringify(filters) === JSON.stringify(policy.filters)
    );
  }

  has(slot: number): boolean {
    return this.#where?.has(slot) ?? this.#buckets.get(WHOLE)?.has(slot) ?? false;
  }

  bucket(name: string): CandidateList | undefined {
    return this.#buckets.get(name);
  }

  /** Takes a credential in, if the filters let it through; one that is in must be removed first. */
  add(slot: number, credential: Filtered, standing: Standing): void {
    if (!passes(this.policy, credential)) return;
    const names = this.#where === null ? [WHOLE] : bucketsOf(this.policy, credential);
    if (names.length === 0) return;
    this.#where?.set(slot, names);
    this.total++;
    if (standing.isUsable) this.usable++;
    for (const name of names) {
      let list = this.#buckets.get(name);
      if (list === undefined)
        this.#buckets.set(name, (list = new CandidateList(this.policy.selector, this.random)));
      list.set(slot, standing.value);
      if (standing.isUsable) list.usable++;
    }
  }

  /** @param wasUsable as it was said last */
  remove(slot: number, wasUsable: boolean): void {
    if (!this.has(slot)) return;
    this.total--;
    if (wasUsable) this.usable--;
    for (const [name, list] of this.#listsOf(slot)) {
      list.remove(slot);
      if (wasUsable) list.usable--;
      if (list.size === 0 && this.#where !== null) this.#buckets.delete(name);
    }
    this.#where?.delete(slot);
    this.limited.delete(slot);
  }

  /** Says anew how one that is in stands. @param wasUsable as it was said last */
  update(slot: number, standing: Standing, wasUsable: boolean): void {
    if (!this.has(slot)) return;
    const by = Number(standing.isUsable) - Number(wasUsable);
    this.usable += by;
    for (const [, list] of this.#listsOf(slot)) {
      list.set(slot, standing.value);
      list.usable += by;
    }
  }

  *#listsOf(slot: number): Generator<[string, CandidateList]> {
    for (const name of this.#where?.get(slot) ?? [WHOLE]) {
      const list = this.#buckets.get(name);
      if (list !== undefined) yield [name, list];
    }
  }
}
