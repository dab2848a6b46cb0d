/**
 * The chain of the audit: each record's hash is a keyed one over the hash before and all that the record says, so that
 * nobody without the key can alter, remove, add or move one unseen. Knows nothing of where records are kept.
 */
import { createHmac } from 'node:crypto';
import type { Json, JsonObject } from '../storage/credential-ports.js';
import type { AuditRow } from '../storage/ports.js';
import type { AuditEntry } from './entry.js';

/** A record before it has its hash. */
export type UnhashedRow = Omit<AuditRow, 'hash'>;

const mostChars = 1024;
const mostDetailChars = 8192;
const mostDepth = 8;

/** The same text for the same value, whatever the order of its names: stores may keep JSON in an order of their own. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each: Json) => canonicalJson(each)).join(',')}]`;
  const fields = Object.entries(value as JsonObject).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`).join(',')}}`;
}

/** What a record says, so that two different records never have the same text. */
function canonicalRecord(row: UnhashedRow): string {
  const { chain, n, atMs, action, actor, address, credential, token, policy, target, task, outcome } = row;
  const fields = [chain, n, atMs, action, actor, address, credential, token, policy, target, task, outcome];
  return `${JSON.stringify(fields)}${canonicalJson(row.detail)}`;
}

/** What stands before the first record of a chain. Hex. */
export function chainStart(key: Buffer, chain: string): string {
  return createHmac('sha256', key).update(`turnpike audit chain\n${chain}`).digest('hex');
}

/** The hash of a record behind one whose hash is `before`. Hex. */
export function recordHash(key: Buffer, before: string, row: UnhashedRow): string {
  return createHmac('sha256', key)
    .update(`${before}\n${canonicalRecord(row)}`)
    .digest('hex');
}

/** Text that both engines keep as it is: no NUL, no half of a surrogate pair, and not too long. */
function plain(text: string): string {
  const cut = text.length > mostChars ? `${text.slice(0, mostChars - 1)}…` : text;
  return Buffer.from(cut, 'utf8').toString('utf8').replaceAll('\0', '\ufffd');
}

/** The same for a value within a detail. */
function plainJson(value: Json, depth: number): Json {
  if (typeof value === 'string') return plain(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (value === null || typeof value !== 'object') return value;
  if (depth >= mostDepth) return '…';
  if (Array.isArray(value)) return value.map((each: Json) => plainJson(each, depth + 1));
  const fields = Object.entries(value as JsonObject).map(([name, each]): [string, Json] => [
    plain(name),
    plainJson(each, depth + 1),
  ]);
  return Object.fromEntries(fields);
}

/** A detail that is too long is replaced by its length; what it was about stands in the other fields. */
function plainDetail(detail: JsonObject): JsonObject {
  const made = plainJson(detail, 0) as JsonObject;
  const { length } = canonicalJson(made);
  return length <= mostDetailChars ? made : { cut: length };
}

/** A record of an entry, with all that it may not say taken out. */
export function rowOf(entry: AuditEntry, place: Pick<AuditRow, 'chain' | 'n' | 'atMs'>): UnhashedRow {
  const text = (value: string | null | undefined): string | null =>
    value === null || value === undefined ? null : plain(value);
  return {
    ...place,
    action: plain(entry.action),
    actor: plain(entry.actor),
    address: text(entry.address),
    credential: text(entry.credential),
    token: text(entry.token),
    policy: text(entry.policy),
    target: text(entry.target),
    task: text(entry.task),
    outcome: plain(entry.outcome),
    detail: plainDetail(entry.detail ?? {}),
  };
}

/** Writes one chain. */
export class ChainWriter {
  #n = 0;
  #hash: string;

  constructor(
    private readonly key: Buffer,
    readonly chain: string,
  ) {
    this.#hash = chainStart(key, chain);
  }

  /** Place and hash of the last record. */
  get last(): { readonly n: number; readonly hash: string } {
    return { n: this.#n, hash: this.#hash };
  }

  /** The next record. */
  next(entry: AuditEntry, atMs: number): AuditRow {
    const row = rowOf(entry, { chain: this.chain, n: this.#n + 1, atMs });
    this.#hash = recordHash(this.key, this.#hash, row);
    this.#n += 1;
    return { ...row, hash: this.#hash };
  }
}
