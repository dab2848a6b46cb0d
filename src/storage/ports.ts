/**
 * Long-lived records as ports that speak the domain: credentials, policies, tokens, audit, keys, clients, instances. Each
 * has one implementation over two engines (SQLite, PostgreSQL); one contract suite tests both. Times are the store's own:
 * methods take durations, and rows give wall-clock milliseconds by the store's clock. A write is durable once it resolves.
 * Nothing here knows what a secret says: what comes sealed stays sealed.
 */

import type { CredentialRecords, JsonObject, TokenRecords } from './credential-ports.js';

/** What a port rejects with when the store can't be asked now or didn't answer in time. It may have done it all the same. */
export class StorageAway extends Error {
  override readonly name = 'StorageAway';
}

/** What changed since a place in the sequence of changes; the last word about each thing. */
export interface Change {
  readonly seq: number;
  readonly kind: 'credential' | 'policy' | 'client' | 'key';
  /** Key of the credential, name of the policy or client, id of the key. A thing that is gone is named, too. */
  readonly ref: string;
}

/** A way of giving out credentials; `access/` knows what the document says. */
export interface PolicyRow {
  readonly id: string;
  readonly name: string;
  readonly document: JsonObject;
  readonly revision: number;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Policies by name. */
export interface PolicyRecords {
  insert(policy: Pick<PolicyRow, 'id' | 'name' | 'document'>): Promise<'inserted' | 'exists'>;
  all(): Promise<readonly PolicyRow[]>;
  find(name: string): Promise<PolicyRow | null>;
  /** Null where it is gone. */
  replace(name: string, document: JsonObject): Promise<PolicyRow | null>;
  remove(name: string): Promise<boolean>;
}

/** One record of the audit; `audit/chain.ts` knows how its hash comes about. */
export interface AuditRow {
  /** Each gateway process writes a chain of its own. */
  readonly chain: string;
  /** Place in the chain, from 1. */
  readonly n: number;
  readonly atMs: number;
  readonly action: string;
  /** API token, client or `system`. */
  readonly actor: string;
  readonly address: string | null;
  readonly credential: string | null;
  /** A short form of the token's hash; never the token. */
  readonly token: string | null;
  readonly policy: string | null;
  readonly target: string | null;
  readonly task: string | null;
  readonly outcome: string;
  readonly detail: JsonObject;
  /** Hex; covers all of the above and the hash before. */
  readonly hash: string;
}

/** Which records are wanted, newest first. */
export interface AuditQuery {
  /** Only records before this one in that order, as `chain/n`; null from the newest. */
  readonly before: { readonly atMs: number; readonly chain: string; readonly n: number } | null;
  readonly limit: number;
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly action?: string;
  readonly actor?: string;
  readonly credential?: string;
  readonly token?: string;
  readonly target?: string;
  readonly task?: string;
}

/** The audit: it only grows, and the engine refuses changes. */
export interface AuditRecords {
  /** In one transaction. */
  append(rows: readonly AuditRow[]): Promise<void>;
  search(query: AuditQuery): Promise<readonly AuditRow[]>;
  /** Records of one chain in its order, from place `from`. */
  read(chain: string, from: number, limit: number): Promise<readonly AuditRow[]>;
  /** The last record of each chain. */
  heads(): Promise<readonly Pick<AuditRow, 'chain' | 'n' | 'hash' | 'atMs'>[]>;
}

/** A key of keys: wrapped by the root key, it wraps the keys of the records. */
export interface KeyRow {
  /** Hex of 16 bytes. */
  readonly id: string;
  /** From 1. */
  readonly term: number;
  /** `derive`: the one that sub-keys (token hashes, audit chain) come from; it stays when others are rotated. */
  readonly state: 'derive' | 'pending' | 'primary' | 'retired' | 'destroyed';
  /** Null once it is destroyed. */
  readonly wrapped: Buffer | null;
  /** How many keys it has wrapped. */
  readonly wraps: number;
  readonly createdMs: number;
}

/** The keys, and small values that belong to them. */
export interface KeyRecords {
  all(): Promise<readonly KeyRow[]>;
  insert(key: Pick<KeyRow, 'id' | 'term' | 'state' | 'wrapped'>): Promise<'inserted' | 'exists'>;
  /** All moves or none: each only where the key is in state `from`. A key that is destroyed loses its wrapped bytes. */
  move(
    moves: readonly { readonly id: string; readonly from: KeyRow['state']; readonly to: KeyRow['state'] }[],
  ): Promise<boolean>;
  /** Wraps all keys anew and sets values with them, in one transaction, if none changed meanwhile (`was`). */
  rewrap(
    keys: readonly { readonly id: string; readonly was: Buffer; readonly wrapped: Buffer }[],
    values: ReadonlyMap<string, Buffer>,
  ): Promise<boolean>;
  addWraps(id: string, count: number): Promise<void>;
  value(name: string): Promise<Buffer | null>;
  /** Sets it where there is none; returns what is there then. */
  setValue(name: string, value: Buffer): Promise<Buffer>;
  /** Makes `holder` the one who rotates for `forMs`; false where another is. */
  claim(name: string, holder: string, forMs: number): Promise<boolean>;
}

/** A client of the proxy port that is kept here and not in the configuration. */
export interface ClientRow {
  readonly name: string;
  /** scrypt, with its parameters and salt; null: known by address alone. */
  readonly passwordHash: string | null;
  /** The rest as the configuration has it. */
  readonly document: JsonObject;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** Stored clients. */
export interface ClientRecords {
  insert(client: Pick<ClientRow, 'name' | 'passwordHash' | 'document'>): Promise<'inserted' | 'exists'>;
  replace(client: Pick<ClientRow, 'name' | 'passwordHash' | 'document'>): Promise<ClientRow | null>;
  all(): Promise<readonly ClientRow[]>;
  remove(name: string): Promise<boolean>;
}

/** A process that uses this store. */
export interface InstanceRow {
  readonly id: string;
  /** The newest key of keys that it can use; null while it is sealed. */
  readonly newestKek: string | null;
}

/** Which processes use this store; the gateways of a fleet without Redis, too. */
export interface InstanceRecords {
  /** Tells that one is alive for `keepMs` more. */
  announce(instance: InstanceRow, keepMs: number): Promise<void>;
  leave(id: string): Promise<void>;
  live(): Promise<readonly InstanceRow[]>;
}

/** What was done once under a name that the asker chose, so that asking again does nothing new (idempotent creation). */
export interface OnceRecords {
  /** The kept answer of an earlier request with this name; null: it is new, and the name is taken for `keepMs`, or until it is finished or forgotten. */
  begin(name: string, fingerprint: string, keepMs: number): Promise<OnceRow | null>;
  /** Keeps the answer for `keepMs` from now. */
  finish(
    name: string,
    answer: { readonly status: number; readonly body: string },
    keepMs: number,
  ): Promise<void>;
  /** Frees the name of a request that failed. */
  forget(name: string): Promise<void>;
}

/** An earlier request; `status` null: it is under way. */
export interface OnceRow {
  /** What was asked for then, to tell a repetition from another request. */
  readonly fingerprint: string;
  readonly status: number | null;
  readonly body: string | null;
}

/** All of it. */
export interface Database {
  readonly engine: 'sqlite' | 'postgres';
  readonly credentials: CredentialRecords;
  readonly policies: PolicyRecords;
  readonly tokens: TokenRecords;
  readonly audit: AuditRecords;
  readonly keys: KeyRecords;
  readonly clients: ClientRecords;
  readonly instances: InstanceRecords;
  readonly once: OnceRecords;
  /** Changes behind `since` in their order, at most so many; whoever is told of one reads the thing. */
  changes(since: number, limit: number): Promise<readonly Change[]>;
  /** The last place in the sequence of changes. */
  lastChange(): Promise<number>;
  /** Rejects with StorageAway where it can't be asked. */
  check(): Promise<void>;
  /** Writes a whole, consistent copy to a file that must not be there yet. @throws on PostgreSQL: that is pg_dump's */
  backup(path: string): Promise<void>;
  close(): Promise<void>;
}
