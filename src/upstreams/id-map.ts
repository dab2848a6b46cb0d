/**
 * A map from ids to numbers that grows in small steps: 256 maps, so that none of them ever has to be copied whole while
 * requests wait, as one map of a million would.
 */
const PARTS = 256;

/** Ids and their numbers. */
export class IdMap {
  readonly #parts = Array.from({ length: PARTS }, () => new Map<string, number>());

  get size(): number {
    return this.#parts.reduce((sum, part) => sum + part.size, 0);
  }

  get(id: string): number | undefined {
    return this.#partOf(id).get(id);
  }

  has(id: string): boolean {
    return this.#partOf(id).has(id);
  }

  set(id: string, value: number): void {
    this.#partOf(id).set(id, value);
  }

  delete(id: string): void {
    this.#partOf(id).delete(id);
  }

  *[Symbol.iterator](): Generator<[string, number]> {
    for (const part of this.#parts) yield* part;
  }

  /** By the last two characters: ids are hashes, so any will do. */
  #partOf(id: string): Map<string, number> {
    const place = (id.charCodeAt(id.length - 1) * 31 + id.charCodeAt(id.length - 2)) & (PARTS - 1);
    return this.#parts[place] ?? new Map<string, number>();
  }
}
