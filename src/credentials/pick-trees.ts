/**
 * Trees over the places of a list, with a number at each leaf: drawing by weight and finding the least cost logarithms of the
 * list's length. PURE. Each inner number is made anew from the two below it, so sums don't drift.
 */

abstract class PickTree {
  /** Node 1 is the root, the leaves are the second half. */
  protected nodes: Float64Array;
  protected leaves: number;

  constructor(
    /** What a leaf has that nobody may pick. */
    protected readonly out: number,
    size: number,
  ) {
    this.leaves = 2 ** Math.ceil(Math.log2(Math.max(size, 2)));
    this.nodes = new Float64Array(2 * this.leaves).fill(out);
    this.#build();
  }

  protected abstract join(left: number, right: number): number;

  /** The number at a place. */
  get(place: number): number {
    return place < this.leaves ? (this.nodes[this.leaves + place] ?? this.out) : this.out;
  }

  /** Sets the number at a place; the tree grows to hold it. */
  set(place: number, value: number): void {
    if (place >= this.leaves) this.#grow(place + 1);
    let node = this.leaves + place;
    this.nodes[node] = value;
    while (node > 1) {
      node >>= 1;
      const joined = this.join(this.nodes[2 * node] ?? this.out, this.nodes[2 * node + 1] ?? this.out);
      if (joined === this.nodes[node]) return;
      this.nodes[node] = joined;
    }
  }

  /** Takes a place out. */
  mute(place: number): void {
    if (this.get(place) !== this.out) this.set(place, this.out);
  }

  #grow(size: number): void {
    const old = this.nodes.subarray(this.leaves);
    this.leaves = 2 ** Math.ceil(Math.log2(size));
    this.nodes = new Float64Array(2 * this.leaves).fill(this.out);
    this.nodes.set(old, this.leaves);
    this.#build();
  }

  #build(): void {
    for (let node = this.leaves - 1; node >= 1; node--)
      this.nodes[node] = this.join(this.nodes[2 * node] ?? this.out, this.nodes[2 * node + 1] ?? this.out);
  }
}

/** Weights; a place is drawn as often as its weight says. 0: never. */
export class WeightTree extends PickTree {
  constructor(size = 2) {
    super(0, size);
  }

  /** The place at this fraction, from 0 to below 1, of all weights in a row; null where all are 0. */
  at(fraction: number): number | null {
    const total = this.nodes[1] ?? 0;
    if (!(total > 0)) return null;
    let left = fraction * total;
    let node = 1;
    while (node < this.leaves) {
      const below = this.nodes[2 * node] ?? 0;
      const isRight = left >= below && (this.nodes[2 * node + 1] ?? 0) > 0;
      if (isRight) left -= below;
      node = 2 * node + (isRight ? 1 : 0);
    }
    return (this.nodes[node] ?? 0) > 0 ? node - this.leaves : null;
  }

  protected join(left: number, right: number): number {
    return left + right;
  }
}

/** Ranks; the lowest is first. */
export class RankTree extends PickTree {
  constructor(size = 2) {
    super(Infinity, size);
  }

  /** The place with the lowest rank, the first of several; null where all are out. */
  first(): number | null {
    if (this.nodes[1] === Infinity) return null;
    let node = 1;
    while (node < this.leaves) node = 2 * node + (this.nodes[2 * node] === this.nodes[node] ? 0 : 1);
    return node - this.leaves;
  }

  protected join(left: number, right: number): number {
    return Math.min(left, right);
  }
}
