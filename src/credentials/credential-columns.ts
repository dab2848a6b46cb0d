/**
 * Credentials by number, in columns: two texts, one object and a few numbers each, so that a million of them fit. Knows what was
 * written to it, and no time.
 */
import type { Random } from '../core/random.js';
import { credentialStatuses, credentialTypes } from '../storage/credential-ports.js';
import type { CredentialRow, CredentialStatus, JsonObject } from '../storage/credential-ports.js';
import type { Filtered } from './credential-filters.js';
import { GrowingNumbers } from './growing-numbers.js';

/** The columns. */
export class CredentialColumns {
  /** What held when it was looked at last. */
  readonly now = new StatusColumn();
  /** What is set, and until when by the store's clock; Infinity: no end is known. */
  readonly set = new StatusColumn();
  readonly until = new GrowingNumbers(Float64Array);
  /** How often all gateways gave it out, as far as is known. */
  readonly uses = new GrowingNumbers(Float64Array);
  /** When this gateway gave it out last, as a place in the order. */
  readonly turns = new GrowingNumbers(Float64Array);
  /** Live tokens, as far as is known. */
  readonly live = new GrowingNumbers(Uint16Array);
  readonly #revisions = new GrowingNumbers(Float64Array);
  readonly #types = new GrowingNumbers(Uint8Array);
  readonly #ids: string[] = [];
  readonly #keys: string[] = [];
  readonly #metas: (JsonObject | null)[] = [];
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  #turn = 0;

  constructor(private readonly random: Random) {}

  /** How many there are. */
  get size(): number {
    return this.#slots.size;
  }

  /** Above all numbers. */
  get end(): number {
    return this.#ids.length;
  }

  entries(): IterableIterator<[key: string, slot: number]> {
    return this.#slots.entries();
  }

  slotOf(key: string): number | undefined {
    return this.#slots.get(key);
  }

  /** Whether there is one of this number. */
  has(slot: number): boolean {
    return (this.#metas[slot] ?? null) !== null;
  }

  id(slot: number): string {
    return this.#ids[slot] ?? '';
  }

  key(slot: number): string {
    return this.#keys[slot] ?? '';
  }

  meta(slot: number): JsonObject {
    return this.#metas[slot] ?? {};
  }

  filtered(slot: number): Filtered {
    return {
      key: this.key(slot),
      type: credentialTypes[this.#types.get(slot)] ?? 'api_key',
      meta: this.meta(slot),
    };
  }

  /** Whether a row says nothing that isn't known. */
  isKnown({ id, key, revision }: CredentialRow): boolean {
    const slot = this.#slots.get(key);
    return slot !== undefined && this.#ids[slot] === id && revision <= this.#revisions.get(slot);
  }

  /** A number for a credential that is not there. */
  begin({ id, key }: CredentialRow): number {
    const slot = this.#free.pop() ?? this.#ids.length;
    this.#slots.set(key, slot);
    this.#ids[slot] = id;
    this.#keys[slot] = key;
    this.live.set(slot, 0);
    this.uses.set(slot, 0);
    // Gateways that start together must not go through them in the same order.
    this.turns.set(slot, this.random.float());
    return slot;
  }

  /** Writes what the row says. */
  write(slot: number, { meta, type, status, untilMs, revision }: CredentialRow): void {
    this.#metas[slot] = meta;
    this.#types.set(slot, credentialTypes.indexOf(type));
    this.set.set(slot, status);
    this.until.set(slot, untilMs ?? Infinity);
    this.#revisions.set(slot, revision);
  }

  /** Frees its number. */
  remove(slot: number): void {
    this.#slots.delete(this.key(slot));
    this.#metas[slot] = null;
    this.#free.push(slot);
  }

  /** It is given out: it comes last in this gateway's order. */
  takeTurn(slot: number): void {
    this.turns.set(slot, ++this.#turn);
  }
}

/** Statuses, as numbers. */
class StatusColumn {
  readonly #numbers = new GrowingNumbers(Uint8Array);

  get(slot: number): CredentialStatus {
    return credentialStatuses[this.#numbers.get(slot)] ?? 'disabled';
  }

  set(slot: number, status: CredentialStatus): void {
    this.#numbers.set(slot, credentialStatuses.indexOf(status));
  }
}
