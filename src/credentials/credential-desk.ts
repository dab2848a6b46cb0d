/**
 * What people and programs do with credentials: make, look at, change, rest, remove, import. Secrets come in and are sealed;
 * none ever comes out here. All methods may reject with `StorageAway`, those that write also with `AuditUnavailable` (nothing
 * was changed) and, where a secret is sealed, `VaultSealed`.
 */
import type {
  CredentialQuery,
  CredentialRow,
  CredentialStatus,
  JsonObject,
} from '../storage/credential-ports.js';
import type { Actor, InputProblem } from './actor.js';
import type { ImportAsk, Imported } from './credential-import.js';

/** A credential as it is sent. Whatever is wrong with it becomes an {@link InputProblem}. */
export interface CredentialInput {
  readonly key: string;
  readonly type: string;
  /** Text, or an object for `username_password` and `oauth2_token`; see `credential-secret.ts`. */
  readonly secret: unknown;
  readonly meta?: JsonObject | undefined;
  /** `active` where not given. */
  readonly status?: string | undefined;
}

/** What is to change; what is left out stays. A new secret lifts `invalid`. */
export interface CredentialEdit {
  readonly meta?: JsonObject | undefined;
  readonly secret?: unknown;
  readonly status?: string | undefined;
  /** How long `cooldown` or `exhausted` lasts; null: until it is changed. Only together with `status`. */
  readonly forMs?: number | null | undefined;
  readonly reason?: string | null | undefined;
  /** Only if it still has this revision. */
  readonly revision?: number | undefined;
}

/** A credential for people: never its secret. */
export interface CredentialView extends Omit<CredentialRow, 'id'> {
  /** What holds now: a rest that is over shows as `active`. */
  readonly statusNow: CredentialStatus;
}

export type CredentialCreated =
  | { readonly kind: 'created'; readonly credential: CredentialView }
  | { readonly kind: 'exists' }
  | { readonly kind: 'invalid'; readonly problems: readonly InputProblem[] };

export type CredentialChanged =
  | { readonly kind: 'changed'; readonly credential: CredentialView }
  | { readonly kind: 'gone' }
  /** It was changed since that revision. */
  | { readonly kind: 'conflict' }
  | { readonly kind: 'invalid'; readonly problems: readonly InputProblem[] };

/** The desk. */
export interface CredentialDesk {
  create(input: CredentialInput, by: Actor): Promise<CredentialCreated>;
  /** Null where there is none. */
  get(key: string): Promise<CredentialView | null>;
  /** In the order of their keys; `status` in the query is what is set, not what holds now. */
  list(query: CredentialQuery): Promise<readonly CredentialView[]>;
  /** Live tokens of a credential that becomes unusable stay, but redeem nothing. */
  change(key: string, edit: CredentialEdit, by: Actor): Promise<CredentialChanged>;
  /** Lets it rest for `forMs` from now, longer or shorter than it would. A banned, invalid or disabled one stays so: `invalid`. */
  coolDown(key: string, forMs: number, by: Actor): Promise<CredentialChanged>;
  /** Removes it; its tokens die with it. False where there is none. */
  remove(key: string, by: Actor): Promise<boolean>;
  /** Takes many from a text that comes in pieces. Rejects with what `source` throws. */
  import(source: AsyncIterable<Uint8Array | string>, ask: ImportAsk, by: Actor): Promise<Imported>;
}
