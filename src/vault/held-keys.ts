/** The keys that this process can use now: rows of the store with their unwrapped bytes. Wiped when they go. */
import type { KeyRow } from '../storage/ports.js';
import { type Kek, type KeyPlace, unwrapKey } from './envelope.js';
import { keyStates, newestKey, sealingKey } from './keyring.js';

/** A row as the root key is bound to it. */
export const placeOfKey = ({ id, term, state }: Pick<KeyRow, 'id' | 'term' | 'state'>): KeyPlace => ({
  ...{ id, term },
  use: state === 'derive' ? 'derive' : 'wrap',
});

const isWanted = ({ state }: KeyRow): boolean => state === 'derive' || keyStates[state].opens;

/** Rows and bytes. */
export class HeldKeys {
  #rows: readonly KeyRow[] = [];
  readonly #bytes = new Map<string, Buffer>();

  /** All rows, as last read. */
  get rows(): readonly KeyRow[] {
    return this.#rows;
  }

  /** Whether some of these rows' keys are not here yet, so that the root key is needed. */
  lacks(rows: readonly KeyRow[]): boolean {
    return rows.some((row) => isWanted(row) && !this.#bytes.has(row.id));
  }

  /** Takes up rows, and unwraps what is new where there is a root key; keys that are gone are wiped. */
  take(rows: readonly KeyRow[], root: Buffer | null): void {
    const wanted = rows.filter(isWanted);
    const ids = new Set(wanted.map(({ id }) => id));
    for (const [id, bytes] of this.#bytes) {
      if (ids.has(id)) continue;
      bytes.fill(0);
      this.#bytes.delete(id);
    }
    this.#rows = rows;
    if (root === null) return;
    for (const row of wanted) {
      if (this.#bytes.has(row.id) || row.wrapped === null) continue;
      const key = unwrapKey(root, placeOfKey(row), row.wrapped);
      if (key !== null) this.#bytes.set(row.id, key);
    }
  }

  /** A key that is here, by its id. */
  kek(id: string): Kek | null {
    const key = this.#bytes.get(id);
    return key === undefined ? null : { id, key };
  }

  #usable(): KeyRow[] {
    return this.#rows.filter(({ id }) => this.#bytes.has(id));
  }

  /** The key that seals; null where there is none, or it is not here: an older one must not seal in its place. */
  sealing(): Kek | null {
    const key = sealingKey(this.#rows);
    return key === null ? null : this.kek(key.id);
  }

  /** The newest key that is here; null where there is none. */
  newest(): string | null {
    return newestKey(this.#usable())?.id ?? null;
  }

  /** The key that sub-keys come from. */
  derive(): Buffer | null {
    const row = this.#rows.find(({ state }) => state === 'derive');
    return row === undefined ? null : (this.#bytes.get(row.id) ?? null);
  }

  /** Forgets the bytes. */
  wipe(): void {
    for (const bytes of this.#bytes.values()) bytes.fill(0);
    this.#bytes.clear();
  }
}
