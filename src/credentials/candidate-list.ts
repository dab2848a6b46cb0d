/**
 * Credentials (by their number in the index) in the order of a selector: drawn at random or by weight, or the lowest rank first.
 * Choosing costs logarithms of its length. It knows no credential, only numbers.
 */
import type { Random } from '../core/random.js';
import { RankTree, WeightTree } from './pick-trees.js';
import type { Selector } from './policy-document.js';

/** Whether the selector draws by weight; otherwise the lowest rank comes first. */
export function isDrawn(selector: Selector): boolean {
  return selector === 'random' || selector === 'weighted_random';
}

/** The list. */
export class CandidateList {
  /** How many of it may be used, whether or not they are held now; kept by whoever knows. */
  usable = 0;
  readonly #slots: number[] = [];
  readonly #places = new Map<number, number>();
  readonly #weights: WeightTree | null;
  readonly #ranks: RankTree | null;

  constructor(
    selector: Selector,
    private readonly random: Random,
  ) {
    this.#weights = isDrawn(selector) ? new WeightTree() : null;
    this.#ranks = isDrawn(selector) ? null : new RankTree();
  }

  get size(): number {
    return this.#slots.length;
  }

  has(slot: number): boolean {
    return this.#places.has(slot);
  }

  /** Its first members, in no order. */
  some(most: number): readonly number[] {
    return this.#slots.slice(0, most);
  }

  /** Adds it, or says anew how it stands. @param value weight or rank; null: it may not be chosen now */
  set(slot: number, value: number | null): void {
    let place = this.#places.get(slot);
    if (place === undefined) {
      place = this.#slots.push(slot) - 1;
      this.#places.set(slot, place);
    }
    this.#put(place, value);
  }

  /** Takes it out; the last one moves to its place. */
  remove(slot: number): void {
    const place = this.#places.get(slot);
    if (place === undefined) return;
    const last = this.#slots.length - 1;
    const moved = this.#slots[last] ?? slot;
    if (moved !== slot) {
      this.#put(place, this.#value(last));
      this.#slots[place] = moved;
      this.#places.set(moved, place);
    }
    this.#put(last, null);
    this.#slots.pop();
    this.#places.delete(slot);
  }

  /** The next ones, best first, at most so many, each once. Changes nothing. */
  next(most: number): number[] {
    const taken: { place: number; value: number | null }[] = [];
    while (taken.length < most) {
      const place = this.#ranks === null ? this.#weights?.at(this.random.float()) : this.#ranks.first();
      if (place === null || place === undefined) break;
      taken.push({ place, value: this.#value(place) });
      this.#put(place, null);
    }
    for (const { place, value } of taken) this.#put(place, value);
    return taken.map(({ place }) => this.#slots[place] ?? -1);
  }

  #value(place: number): number | null {
    if (this.#ranks === null) return this.#weights?.get(place) ?? null;
    const rank = this.#ranks.get(place);
    return rank === Infinity ? null : rank;
  }

  #put(place: number, value: number | null): void {
    this.#weights?.set(place, value ?? 0);
    this.#ranks?.set(place, value ?? Infinity);
  }
}
