/** A column of numbers that grows as it is written to; 0 where nothing was. PURE. */

type Numbers = Uint8Array | Uint16Array | Float64Array;

export class GrowingNumbers {
  #numbers: Numbers;

  constructor(private readonly kind: new (size: number) => Numbers) {
    this.#numbers = new kind(16);
  }

  get(at: number): number {
    return this.#numbers[at] ?? 0;
  }

  set(at: number, value: number): void {
    if (at >= this.#numbers.length) {
      const grown = new this.kind(Math.max(2 * this.#numbers.length, at + 1));
      grown.set(this.#numbers);
      this.#numbers = grown;
    }
    this.#numbers[at] = value;
  }
}
