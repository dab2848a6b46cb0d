/**
 * Stored clients, as an operator changes them: those of the configuration can only be looked at. Each change is audited
 * before it is made, holds here at once and on the other gateways within a second. Knows no route and no configuration.
 */
import type { Emit } from '../core/events.js';
import { Secret } from '../core/secret.js';
import type { ChangeListener } from '../storage/change-feed.js';
import type { JsonObject } from '../storage/credential-ports.js';
import type { ClientRecords, ClientRow } from '../storage/ports.js';
import type { Actor } from '../credentials/actor.js';
import type { Audit } from '../audit/entry.js';
import type { Client } from './clients.js';
import { hashPassword, readPasswordHash } from './password-hash.js';
import type { StoredClient, StoredClients } from './stored-clients.js';
import { WorkQueue } from './work-queue.js';

/** A client as it is asked for: settings as the configuration writes them, `password` as it is. */
export interface ClientDraft {
  readonly name: string;
  /** Null: known by its address alone. Undefined, where it is replaced: the one before stays. */
  readonly password?: string | null;
  /** `allow_from`, `tags`, `limits`, `targets`, `defaults`. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/** What came of it. Rejects with StorageAway or AuditUnavailable where nothing was done. */
export type ClientChanged =
  | { readonly kind: 'done'; readonly name: string }
  | { readonly kind: 'unknown' }
  /** Too many passwords wait to be hashed; later it will do. */
  | { readonly kind: 'busy' }
  /** The name is taken. `configuration`: only there it can be changed. */
  | { readonly kind: 'taken'; readonly by: 'configuration' | 'storage' }
  /** Each problem with the path of its setting; no values. */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] };

/** Where clients come from. */
export type ClientSource = 'configuration' | 'storage';

/** What the routes of `/clients` call; how a client looks and what it uses, they ask elsewhere. */
export interface ClientDeskPort {
  create(draft: ClientDraft, by: Actor): Promise<ClientChanged>;
  replace(draft: ClientDraft, by: Actor): Promise<ClientChanged>;
  remove(name: string, by: Actor): Promise<ClientChanged>;
  /** Settings of a stored client as they were given; null where there is none of this name. */
  settingsOf(name: string): Readonly<Record<string, unknown>> | null;
}

/** What the desk works with. */
export interface ClientDeskParts {
  readonly records: ClientRecords;
  readonly stored: StoredClients;
  readonly audit: Audit;
  readonly emit: Emit;
  nowMs(): number;
  /** Reads settings as the configuration does. @param password what marks a client that has one */
  read(
    name: string,
    settings: Readonly<Record<string, unknown>>,
    password: Secret | null,
  ):
    | { readonly kind: 'client'; readonly client: Client }
    | { readonly kind: 'bad'; readonly problems: readonly string[] };
  /** Whether the configuration in force has a client of this name. */
  isConfigured(name: string): boolean;
  /** Told of clients that are gone: what they have open is to end. */
  onRemoved(names: ReadonlySet<string>): void;
}

const SHORTEST = 8;
const LONGEST = 1024;
const noWords = new Secret('');

/** The desk. */
export class ClientDesk implements ClientDeskPort, ChangeListener {
  readonly kind = 'client';
  #rows: ReadonlyMap<string, ClientRow> = new Map();
  #turn: Promise<unknown> = Promise.resolve();
  /** One at a time: the thread pool is needed for logins. */
  readonly #hashes: WorkQueue;

  constructor(private readonly parts: ClientDeskParts) {
    this.#hashes = new WorkQueue({ atOnce: 1, most: 100, waitMs: 5000 }, () => parts.nowMs());
  }

  settingsOf(name: string): Readonly<Record<string, unknown>> | null {
    return this.#rows.get(name)?.document ?? null;
  }

  async create(draft: ClientDraft, by: Actor): Promise<ClientChanged> {
    const { name, password = null } = draft;
    const problems = this.#problemsOf(draft, password !== null);
    if (problems.length > 0) return { kind: 'invalid', problems };
    if (this.parts.isConfigured(name)) return { kind: 'taken', by: 'configuration' };
    if (this.#rows.has(name)) return { kind: 'taken', by: 'storage' };
    const passwordHash = password === null ? null : await this.#hashes.run(() => hashPassword(password));
    if (password !== null && passwordHash === null) return { kind: 'busy' };
    await this.#record('client.create', draft, by);
    const client = { name, passwordHash, document: draft.settings as JsonObject };
    if ((await this.parts.records.insert(client)) === 'exists') return { kind: 'taken', by: 'storage' };
    return this.#done(name);
  }

  async replace(draft: ClientDraft, by: Actor): Promise<ClientChanged> {
    const { name, password } = draft;
    if (this.parts.isConfigured(name)) return { kind: 'taken', by: 'configuration' };
    const before = this.#rows.get(name);
    if (before === undefined) return { kind: 'unknown' };
    const kept = password === undefined ? before.passwordHash : null;
    const problems = this.#problemsOf(draft, kept !== null || typeof password === 'string');
    if (problems.length > 0) return { kind: 'invalid', problems };
    const made = typeof password === 'string' ? await this.#hashes.run(() => hashPassword(password)) : kept;
    if (typeof password === 'string' && made === null) return { kind: 'busy' };
    await this.#record('client.replace', draft, by);
    const client = { name, passwordHash: made, document: draft.settings as JsonObject };
    return (await this.parts.records.replace(client)) === null ? { kind: 'unknown' } : this.#done(name);
  }

  async remove(name: string, by: Actor): Promise<ClientChanged> {
    if (!this.#rows.has(name))
      return this.parts.isConfigured(name) ? { kind: 'taken', by: 'configuration' } : { kind: 'unknown' };
    await this.#record('client.remove', { name, settings: {} }, by);
    return (await this.parts.records.remove(name)) ? this.#done(name) : { kind: 'unknown' };
  }

  changed(): Promise<void> {
    return this.readAll();
  }

  /** Reads all of them, one reading after the other; what can't be read as a client is told of and left out. */
  readAll(): Promise<void> {
    const reading = this.#turn.then(() => this.#read());
    this.#turn = reading.catch(() => undefined);
    return reading;
  }

  async #read(): Promise<void> {
    const rows = await this.parts.records.all();
    const clients = rows.flatMap((row) => this.#clientOf(row) ?? []);
    this.#rows = new Map(rows.map((row) => [row.name, row]));
    const gone = this.parts.stored.use(clients);
    if (gone.size > 0) this.parts.onRemoved(gone);
  }

  #clientOf(row: ClientRow): StoredClient | null {
    const { name, passwordHash, document } = row;
    const version = versionOf(row);
    const before = this.#rows.get(name);
    const isSame = before !== undefined && versionOf(before) === version;
    if (isSame) return this.parts.stored.get(name)?.stored ?? null;
    const hash = passwordHash === null ? null : readPasswordHash(passwordHash);
    const read = this.parts.read(name, document, passwordHash === null ? null : new Secret(passwordHash));
    const isWhole = passwordHash === null || hash !== null;
    if (read.kind === 'client' && isWhole) return { client: read.client, hash, version };
    const reason =
      read.kind === 'bad' ? read.problems.join('; ') : 'its password is stored in an unknown form';
    this.parts.emit({ type: 'note', level: 'warn', what: 'bad_client', detail: { client: name, reason } });
    return null;
  }

  #problemsOf({ name, password, settings }: ClientDraft, hasPassword: boolean): readonly string[] {
    const read = this.parts.read(name, settings, hasPassword ? noWords : null);
    const problems = read.kind === 'bad' ? [...read.problems] : [];
    const length = typeof password === 'string' ? password.length : SHORTEST;
    if (length < SHORTEST || length > LONGEST)
      problems.push(`password: expected ${SHORTEST} to ${LONGEST} characters`);
    return problems;
  }

  async #record(action: string, { name, password, settings }: ClientDraft, by: Actor): Promise<void> {
    const word = password === undefined ? 'kept' : password === null ? 'none' : 'new';
    const detail = { client: name, password: word, settings: Object.keys(settings) };
    await this.parts.audit.record({ action, actor: by.name, address: by.address, outcome: 'ok', detail });
  }

  /** It is done, whether or not it can be read back now: the feed of changes will see to that. */
  async #done(name: string): Promise<ClientChanged> {
    await this.readAll().catch(() => undefined);
    return { kind: 'done', name };
  }
}

function versionOf({ passwordHash, document }: ClientRow): string {
  return JSON.stringify([passwordHash, document]);
}
