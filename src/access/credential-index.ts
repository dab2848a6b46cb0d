/**
 * All credentials as this gateway knows them, without their secrets, and which of them each policy may give out now. What it says
 * is a good guess: the store decides. Nothing here takes longer than the logarithm of how many there are.
 */
import type { Random } from '../core/random.js';
import { credentialStatuses } from '../storage/credential-ports.js';
import type { CredentialRow, CredentialStatus } from '../storage/credential-ports.js';
import { allRest, allTaken, type Choice } from './candidate-choice.js';
import { CredentialColumns } from './credential-columns.js';
import { weightOf } from './credential-filters.js';
import { isRest, statusAt } from './credential-status.js';
import type { Policy, Selector } from './policy-document.js';
import { PolicyList, type Standing } from './policy-list.js';
import { WakeHeap } from './wake-heap.js';

/** The index. Times are the store's. */
export class CredentialIndex {
  readonly #columns: CredentialColumns;
  readonly #lists = new Map<string, PolicyList>();
  /** Those of which the store said that others hold them: until when that is believed. */
  readonly #doubts = new Map<number, number>();
  /** Those with live tokens. */
  readonly #held = new Set<number>();
  readonly #wakes = new WakeHeap();
  readonly #counts: Record<CredentialStatus, number>;

  constructor(
    private readonly random: Random,
    private readonly nowMs: () => number,
  ) {
    this.#columns = new CredentialColumns(random);
    this.#counts = Object.fromEntries(credentialStatuses.map((status) => [status, 0])) as Record<
      CredentialStatus,
      number
    >;
  }

  get size(): number {
    return this.#columns.size;
  }

  /** Takes a credential as it is now; what is older than what is known is passed over. */
  put(row: CredentialRow): void {
    if (this.#columns.isKnown(row)) return;
    let slot = this.#columns.slotOf(row.key);
    if (slot !== undefined && this.#columns.id(slot) !== row.id) {
      this.remove(row.key);
      slot = undefined;
    }
    if (slot === undefined) slot = this.#columns.begin(row);
    else this.#leave(slot);
    this.#columns.write(slot, row);
    const now = statusAt(row, this.nowMs());
    this.#columns.now.set(slot, now);
    this.#counts[now]++;
    this.#wakeLater(slot);
    const filtered = this.#columns.filtered(slot);
    for (const list of this.#lists.values()) list.add(slot, filtered, this.#standing(slot, list));
  }

  remove(key: string): void {
    const slot = this.#columns.slotOf(key);
    if (slot === undefined) return;
    this.#leave(slot);
    this.#doubts.delete(slot);
    this.#held.delete(slot);
    this.#columns.remove(slot);
  }

  /** All keys that are known. */
  keys(): string[] {
    return Array.from(this.#columns.entries(), ([key]) => key);
  }

  /** Credentials by what holds now. */
  counts(): Record<CredentialStatus, number> {
    this.#wake();
    return { ...this.#counts };
  }

  /**
   * Takes a policy as it is now. The list of a new one fills with {@link fill}; until it is full it gives what is there.
   * @returns whether it must be filled
   */
  putPolicy(policy: Policy): boolean {
    const known = this.#lists.get(policy.name);
    if (known?.fits(policy) === true) {
      known.policy = policy;
      return false;
    }
    const list = new PolicyList(policy, this.random);
    this.#lists.set(policy.name, list);
    if (this.size > 0) return true;
    list.seen = Infinity;
    return false;
  }

  removePolicy(name: string): void {
    this.#lists.delete(name);
  }

  policy(name: string): Policy | undefined {
    return this.#lists.get(name)?.policy;
  }

  policyNames(): string[] {
    return [...this.#lists.keys()];
  }

  /** Looks at so many more credentials for a policy that is new; true once all were. */
  fill(name: string, most: number): boolean {
    const list = this.#lists.get(name);
    if (list === undefined) return true;
    const end = Math.min(list.seen + most, this.#columns.end);
    for (; list.seen < end; list.seen++) {
      const slot = list.seen;
      if (!this.#columns.has(slot) || list.has(slot)) continue;
      list.add(slot, this.#columns.filtered(slot), this.#standing(slot, list));
    }
    return list.seen >= this.#columns.end;
  }

  /** How many a policy's filters let through, and how many of them may be used now. */
  supply(name: string): { readonly total: number; readonly usable: number } {
    this.#wake();
    const { total = 0, usable = 0 } = this.#lists.get(name) ?? {};
    return { total, usable };
  }

  /** The next ones of a policy's bucket. Changes nothing but what time changes. */
  choose(name: string, bucket: string, most: number): Choice {
    this.#wake();
    const policy = this.#lists.get(name);
    const list = policy?.bucket(bucket);
    if (policy === undefined || list === undefined || list.size === 0)
      return { kind: 'none', why: 'no_match', untilMs: null };
    const slots = list.next(most);
    if (slots.length > 0) {
      const candidates = slots.map((slot) => ({ id: this.#columns.id(slot), key: this.#columns.key(slot) }));
      return { kind: 'candidates', candidates };
    }
    return list.usable > 0 ? allTaken(policy.limited) : allRest(list, (slot) => this.#restsUntil(slot));
  }

  /** It is about to be given out: it counts as held and as used last. */
  hold(key: string): void {
    this.#change(key, (slot) => {
      const { live, uses } = this.#columns;
      this.#setLive(slot, live.get(slot) + 1);
      uses.set(slot, uses.get(slot) + 1);
      this.#columns.takeTurn(slot);
    });
  }

  /** It was not given out after all. */
  unhold(key: string): void {
    this.#change(key, (slot) => {
      const { live, uses } = this.#columns;
      this.#setLive(slot, Math.max(0, live.get(slot) - 1));
      uses.set(slot, uses.get(slot) - 1);
    });
  }

  /** A token of it ended. */
  free(key: string): void {
    this.#change(key, (slot) => {
      this.#setLive(slot, Math.max(0, this.#columns.live.get(slot) - 1));
      this.#doubts.delete(slot);
    });
  }

  /** The store says that others hold it: that is believed until a time. */
  doubt(key: string, untilMs: number): void {
    this.#change(key, (slot) => {
      this.#doubts.set(slot, untilMs);
      this.#wakes.push(untilMs, slot);
    });
  }

  /** Its rate in this policy is used up until a time. */
  limit(name: string, key: string, untilMs: number): void {
    this.#change(key, (slot) => {
      const list = this.#lists.get(name);
      if (list?.has(slot) !== true) return;
      list.limited.set(slot, untilMs);
      this.#wakes.push(untilMs, slot);
    });
  }

  /** Takes how many live tokens each credential has; those that are not named have none. */
  setLive(counts: ReadonlyMap<string, number>): void {
    const slots = new Map<number, number>();
    for (const [key, count] of counts) {
      const slot = this.#columns.slotOf(key);
      if (slot !== undefined) slots.set(slot, count);
    }
    for (const slot of [...this.#held]) if (!slots.has(slot)) slots.set(slot, 0);
    for (const [slot, count] of slots) {
      if (count !== this.#columns.live.get(slot)) this.#doubts.delete(slot);
      this.#setLive(slot, count);
      this.#relook(slot);
    }
  }

  /** Takes how often it was given out by all gateways. */
  setUses(key: string, uses: number): void {
    this.#change(key, (slot) => this.#columns.uses.set(slot, uses));
  }

  #change(key: string, change: (slot: number) => void): void {
    const slot = this.#columns.slotOf(key);
    if (slot === undefined) return;
    change(slot);
    this.#relook(slot);
  }

  #setLive(slot: number, count: number): void {
    this.#columns.live.set(slot, count);
    if (count > 0) this.#held.add(slot);
    else this.#held.delete(slot);
  }

  /** Looks what time has changed. */
  #wake(): void {
    const nowMs = this.nowMs();
    for (let slot = this.#wakes.popDue(nowMs); slot !== null; slot = this.#wakes.popDue(nowMs)) {
      if (!this.#columns.has(slot)) continue;
      if ((this.#doubts.get(slot) ?? Infinity) <= nowMs) this.#doubts.delete(slot);
      for (const { limited } of this.#lists.values())
        if ((limited.get(slot) ?? Infinity) <= nowMs) limited.delete(slot);
      this.#relook(slot);
    }
  }

  /** Its rest ends by itself. */
  #wakeLater(slot: number): void {
    const untilMs = this.#restsUntil(slot);
    if (untilMs > this.nowMs() && untilMs !== Infinity) this.#wakes.push(untilMs, slot);
  }

  /** Sees what holds now, and tells the lists. */
  #relook(slot: number): void {
    const { set, until, now } = this.#columns;
    const was = now.get(slot);
    const is = statusAt({ status: set.get(slot), untilMs: until.get(slot) }, this.nowMs());
    this.#counts[was]--;
    this.#counts[is]++;
    now.set(slot, is);
    for (const list of this.#lists.values()) list.update(slot, this.#standing(slot, list), was === 'active');
  }

  /** Takes it out of all lists and counts. */
  #leave(slot: number): void {
    const was = this.#columns.now.get(slot);
    this.#counts[was]--;
    for (const list of this.#lists.values()) list.remove(slot, was === 'active');
  }

  #standing(slot: number, { policy: { slots, selector }, limited }: PolicyList): Standing {
    const isUsable = this.#columns.now.get(slot) === 'active';
    const isFree = slots === null || (this.#columns.live.get(slot) < slots && !this.#doubts.has(slot));
    const isChoosable = isUsable && isFree && !limited.has(slot);
    return { isUsable, value: isChoosable ? this.#value(slot, selector) : null };
  }

  #value(slot: number, selector: Selector): number {
    switch (selector) {
      case 'random':
        return 1;
      case 'weighted_random':
        return weightOf(this.#columns.meta(slot));
      case 'round_robin':
        return this.#columns.turns.get(slot);
      case 'least_used':
        // Of those that were used as often, each gateway takes another.
        return this.#columns.uses.get(slot) + this.random.float() / 2;
    }
  }

  #restsUntil(slot: number): number {
    return isRest(this.#columns.set.get(slot)) ? this.#columns.until.get(slot) : Infinity;
  }
}
