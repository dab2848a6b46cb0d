/** The desk of credentials. Each change is told to the audit before it is made; what comes in is sealed at once. */
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';
import type {
  CredentialChange,
  CredentialQuery,
  CredentialRecords,
  CredentialRow,
  JsonObject,
  NewCredential,
} from '../storage/credential-ports.js';
import type { Vault } from '../vault/vault.js';
import type { Actor, InputProblem } from './actor.js';
import type { Audit } from './audit-entry.js';
import type {
  CredentialChanged,
  CredentialCreated,
  CredentialDesk,
  CredentialEdit,
  CredentialInput,
  CredentialView,
} from './credential-desk.js';
import type { ImportAsk, Imported } from './credential-import.js';
import { metaProblems, readCredential, statusProblems, type ReadyCredential } from './credential-input.js';
import { readSecret } from './credential-secret.js';
import { isRest, moveOf, statusAt } from './credential-status.js';
import { importCredentials } from './import-credentials.js';
import type { IndexFeed } from './index-feed.js';
import { reasonOf } from './report.js';
import { sealSecret } from './sealing.js';
import type { StoreTime } from './store-time.js';

/** What the desk works with. */
export interface CredentialsParts {
  readonly credentials: CredentialRecords;
  readonly vault: Pick<Vault, 'seal'>;
  readonly audit: Audit;
  readonly feed: IndexFeed;
  readonly time: StoreTime;
  readonly random: Random;
  readonly emit: Emit;
}

type Invalid = { readonly kind: 'invalid'; readonly problems: readonly InputProblem[] };
/** An event of the table, or what an administrator sets. */
type Wanted = { readonly change: CredentialChange; readonly what: string };

/** The desk. */
export class Credentials implements CredentialDesk {
  readonly #parts: CredentialsParts;

  constructor(parts: CredentialsParts) {
    this.#parts = parts;
  }

  async create(input: CredentialInput, by: Actor): Promise<CredentialCreated> {
    const read = readCredential(input);
    if (read.kind === 'invalid') return read;
    const [inserted] = await this.#insert([read.credential], by, 'credential.create');
    if (inserted !== 'inserted') return { kind: 'exists' };
    const credential = await this.get(read.credential.key);
    // Somebody else may have removed it already.
    return credential === null ? { kind: 'exists' } : { kind: 'created', credential };
  }

  async get(key: string): Promise<CredentialView | null> {
    const [row] = await this.#parts.credentials.rows([key]);
    return row === undefined ? null : this.#view(row);
  }

  async list(query: CredentialQuery): Promise<readonly CredentialView[]> {
    return (await this.#parts.credentials.list(query)).map((row) => this.#view(row));
  }

  async change(key: string, edit: CredentialEdit, by: Actor): Promise<CredentialChanged> {
    const [row] = await this.#parts.credentials.rows([key]);
    if (row === undefined) return { kind: 'gone' };
    if (edit.revision !== undefined && edit.revision !== row.revision) return { kind: 'conflict' };
    const wanted = this.#wanted(row, edit);
    if (wanted.kind === 'invalid') return wanted;
    return this.#change(row, wanted, by);
  }

  async coolDown(key: string, forMs: number, by: Actor): Promise<CredentialChanged> {
    const [row] = await this.#parts.credentials.rows([key]);
    if (row === undefined) return { kind: 'gone' };
    const move = moveOf(row, 'cool_down', { nowMs: this.#parts.time.nowMs(), saidMs: forMs });
    if (move.kind === 'stay') {
      const message = `the credential is ${row.status}: set its status first`;
      return { kind: 'invalid', problems: [{ path: '', message }] };
    }
    const { status, forMs: length } = move;
    const change = { status, forMs: length, reason: `set by ${by.name}` };
    return this.#change(row, { change, what: 'credential.cooldown' }, by);
  }

  async remove(key: string, by: Actor): Promise<boolean> {
    const [row] = await this.#parts.credentials.rows([key]);
    if (row === undefined) return false;
    await this.#record('credential.remove', key, by, {});
    const isRemoved = await this.#parts.credentials.remove(key);
    await this.#parts.feed.readCredentials([key]);
    return isRemoved;
  }

  import(source: AsyncIterable<Uint8Array | string>, ask: ImportAsk, by: Actor): Promise<Imported> {
    const { credentials, time } = this.#parts;
    return importCredentials(source, ask, {
      nowSeconds: time.nowMs() / 1000,
      known: async (keys) => (await credentials.rows(keys)).map(({ key }) => key),
      insert: (ready) => this.#insert(ready, by, 'credential.import'),
      remove: async (keys) => {
        for (const key of keys) await this.remove(key, by);
      },
    });
  }

  async #insert(
    ready: readonly ReadyCredential[],
    by: Actor,
    action: string,
  ): Promise<readonly ('inserted' | 'exists')[]> {
    const { credentials, feed, random, vault } = this.#parts;
    const rows = ready.map(({ key, type, meta, status, json }): NewCredential => {
      const { kekId, sealed, id } = sealSecret(vault, { id: random.hex(16), version: 1 }, json);
      return { id, key, type, meta, status, kekId, sealed, untilMs: null, reason: null };
    });
    await Promise.all(rows.map(({ key, type, status }) => this.#record(action, key, by, { type, status })));
    const inserted = await credentials.insert(rows);
    await feed.readCredentials(rows.map(({ key }) => key));
    return inserted;
  }

  /** What is to be changed by an edit. */
  #wanted(
    row: CredentialRow,
    { meta, secret, status, forMs, reason }: CredentialEdit,
  ): Invalid | ({ kind: 'wanted' } & Wanted) {
    const problems: InputProblem[] = [];
    if (meta !== undefined) problems.push(...metaProblems(meta));
    if (status !== undefined) problems.push(...statusProblems(status));
    if (forMs !== undefined && (status === undefined || !isRest(status as CredentialRow['status'])))
      problems.push({ path: 'status', message: 'only cooldown and exhausted last for a time' });
    const read = secret === undefined ? null : readSecret(row.type, secret);
    if (read?.kind === 'invalid') problems.push({ path: 'secret', message: read.message });
    if (problems.length > 0) return { kind: 'invalid', problems };
    const sealed = read?.kind === 'secret' ? this.#sealed(row, read.json) : {};
    const lifted = moveOf(row, 'new_secret', { nowMs: this.#parts.time.nowMs(), saidMs: null });
    const set =
      status !== undefined
        ? { status: status as CredentialRow['status'], forMs: forMs ?? null }
        : secret !== undefined && lifted.kind === 'set'
          ? { status: lifted.status, forMs: lifted.forMs }
          : {};
    const said = reason === undefined ? {} : { reason: reason === null ? null : reasonOf(reason) };
    const change = { ...(meta === undefined ? {} : { meta }), ...set, ...said, ...sealed };
    return { kind: 'wanted', change, what: 'credential.change' };
  }

  #sealed(row: CredentialRow, json: string): Pick<CredentialChange, 'secret'> {
    const { version, kekId, sealed } = sealSecret(
      this.#parts.vault,
      { id: row.id, version: row.version + 1 },
      json,
    );
    return { secret: { version, kekId, sealed } };
  }

  /** Only if nobody else changed it since it was read. */
  async #change(row: CredentialRow, { change, what }: Wanted, by: Actor): Promise<CredentialChanged> {
    const { credentials, feed, time, emit } = this.#parts;
    const { status, forMs = null, meta, secret } = change;
    await this.#record(what, row.key, by, {
      ...(status === undefined ? {} : { status, forMs }),
      ...(meta === undefined ? {} : { meta: true }),
      ...(secret === undefined ? {} : { version: secret.version }),
    });
    const changed = await credentials.change(row.key, { ...change, id: row.id }, row.revision);
    if (changed.kind !== 'changed') return { kind: changed.kind };
    feed.put(changed.row);
    time.heard(changed.row.updatedMs);
    if (status !== undefined && status !== row.status) {
      const of = { credential: row.key, from: row.status, to: status, forMs };
      emit({ type: 'credential_status_changed', ...of, by: 'administrator' });
    }
    return { kind: 'changed', credential: this.#view(changed.row) };
  }

  #record(action: string, credential: string, by: Actor, detail: JsonObject): Promise<void> {
    const { name: actor, address } = by;
    return this.#parts.audit.record({ action, actor, address, credential, outcome: 'ok', detail });
  }

  #view({ id: _, ...row }: CredentialRow): CredentialView {
    return { ...row, statusNow: statusAt(row, this.#parts.time.nowMs()) };
  }
}
