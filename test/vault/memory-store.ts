/**
 * The part of a store that a vault needs, in memory, under a test's clock: for fleets whose gateways must act in a given order.
 * What a real store does is tested on the real ones (`test/integration/vault-*.test.ts`).
 */
import type { Clock } from '../../src/core/clock.js';
import type { CredentialRecords, CredentialRow, SealedSecret } from '../../src/storage/credential-ports.js';
import { type InstanceRecords, type KeyRecords, type KeyRow, StorageAway } from '../../src/storage/ports.js';
import type { VaultParts } from '../../src/vault/key-vault.js';

type Part<T> = { -readonly [K in keyof T]: T[K] };

/** A store that can be away, and can be looked into. */
export class MemoryStore {
  isAway = false;
  /** Called before anything is asked, with the name of what it is. */
  before: (what: string) => void = () => undefined;
  rows: KeyRow[] = [];
  readonly values = new Map<string, Buffer>();
  readonly secrets = new Map<string, SealedSecret>();
  readonly instances = new Map<string, { newestKek: string | null; endMs: number }>();
  readonly claims = new Map<string, { holder: string; endMs: number }>();

  constructor(private readonly clock: Clock) {}

  #ask<T>(what: string, work: () => T): Promise<T> {
    this.before(what);
    return this.isAway ? Promise.reject(new StorageAway(what)) : Promise.resolve().then(work);
  }

  #keys(): KeyRecords {
    return {
      all: () => this.#ask('all', () => [...this.rows]),
      insert: (key) =>
        this.#ask('insert', () => {
          if (this.rows.some(({ id }) => id === key.id)) return 'exists';
          this.rows.push({ ...key, wraps: 0, createdMs: this.clock.wallMs() });
          return 'inserted';
        }),
      move: (moves) =>
        this.#ask('move', () => {
          if (!moves.every(({ id, from }) => this.rows.some((row) => row.id === id && row.state === from)))
            return false;
          for (const { id, to } of moves)
            this.set(id, { state: to, ...(to === 'destroyed' && { wrapped: null }) });
          return true;
        }),
      rewrap: (keys, values) =>
        this.#ask('rewrap', () => {
          const isSame = keys.every(({ id, was }) =>
            this.rows.find((row) => row.id === id)?.wrapped?.equals(was),
          );
          if (!isSame) return false;
          for (const { id, wrapped } of keys) this.set(id, { wrapped });
          for (const [name, value] of values) this.values.set(name, value);
          return true;
        }),
      addWraps: (id, count) =>
        this.#ask('addWraps', () => {
          this.set(id, { wraps: (this.rows.find((row) => row.id === id)?.wraps ?? 0) + count });
        }),
      value: (name) => this.#ask('value', () => this.values.get(name) ?? null),
      setValue: (name, value) =>
        this.#ask('setValue', () => {
          const kept = this.values.get(name) ?? value;
          this.values.set(name, kept);
          return kept;
        }),
      claim: (name, holder, forMs) =>
        this.#ask('claim', () => {
          const held = this.claims.get(name);
          if (held !== undefined && held.holder !== holder && held.endMs > this.clock.nowMs()) return false;
          this.claims.set(name, { holder, endMs: this.clock.nowMs() + forMs });
          return true;
        }),
    };
  }

  #instances(): InstanceRecords {
    return {
      announce: ({ id, newestKek }, keepMs) =>
        this.#ask('announce', () => {
          this.instances.set(id, { newestKek, endMs: this.clock.nowMs() + keepMs });
        }),
      leave: (id) => this.#ask('leave', () => void this.instances.delete(id)),
      live: () =>
        this.#ask('live', () =>
          [...this.instances]
            .filter(([, { endMs }]) => endMs > this.clock.nowMs())
            .map(([id, { newestKek }]) => ({ id, newestKek })),
        ),
    };
  }

  #credentials(): Pick<CredentialRecords, 'sealedUnder' | 'countUnder' | 'reseal' | 'list'> {
    const under = (kekId: string): SealedSecret[] =>
      [...this.secrets.values()].filter((each) => each.kekId === kekId);
    return {
      // That there is one is all that is asked.
      list: () =>
        this.#ask('list', () =>
          [...this.secrets.keys()].slice(0, 1).map((key) => ({ key }) as CredentialRow),
        ),
      sealedUnder: (kekId, limit) => this.#ask('sealedUnder', () => under(kekId).slice(0, limit)),
      countUnder: (kekId) => this.#ask('countUnder', () => under(kekId).length),
      reseal: (seals) =>
        this.#ask('reseal', () => {
          const fitting = seals.filter(({ id, version, from }) => {
            const kept = this.secrets.get(id);
            return kept?.version === version && kept.kekId === from;
          });
          for (const { id, version, kekId, sealed } of fitting)
            this.secrets.set(id, { id, version, kekId, sealed });
          return fitting.length;
        }),
    };
  }

  /** Changes a key's row. */
  set(id: string, change: Partial<Part<KeyRow>>): void {
    this.rows = this.rows.map((row) => (row.id === id ? { ...row, ...change } : row));
  }

  /** As the vault takes it. */
  readonly db: VaultParts['db'] = {
    keys: this.#keys(),
    instances: this.#instances(),
    credentials: this.#credentials() as CredentialRecords,
  };
}
