/**
 * Credentials and tokens as ports; see `ports.ts` for what holds for all of them.
 * A token is a claim on a credential: it holds a slot of it until it ends.
 */

/** What a secret is. */
export const credentialTypes = ['username_password', 'api_key', 'cookie_string', 'oauth2_token'] as const;
export type CredentialType = (typeof credentialTypes)[number];

/** What is set, not what holds now: a cool-down ends by its time (`credentials/credential-status.ts`). */
export const credentialStatuses = [
  'active',
  'disabled',
  'exhausted',
  'banned',
  'cooldown',
  'invalid',
] as const;
export type CredentialStatus = (typeof credentialStatuses)[number];

/** A value as JSON has it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };
export type JsonObject = Readonly<Record<string, Json>>;

/** A credential without its secret: all that choosing needs. */
export interface CredentialRow {
  /** Unguessable, never used again; what the secret is bound to. */
  readonly id: string;
  /** The name that people give it; unique. */
  readonly key: string;
  readonly type: CredentialType;
  readonly meta: JsonObject;
  readonly status: CredentialStatus;
  /** Until when `cooldown` or `exhausted` lasts; null: no end is known. */
  readonly untilMs: number | null;
  /** Why it has this status, for people; null where nobody said. */
  readonly reason: string | null;
  /** Version of the secret, from 1; one more with each new secret. */
  readonly version: number;
  /** One more with each change of any kind; what optimistic changes compare. */
  readonly revision: number;
  readonly createdMs: number;
  readonly updatedMs: number;
}

/** A sealed secret with what it is bound to. */
export interface SealedSecret {
  readonly id: string;
  readonly version: number;
  /** The key of keys that it is sealed under. */
  readonly kekId: string;
  readonly sealed: Buffer;
}

/** A credential that is to be kept. */
export type NewCredential = Pick<
  CredentialRow,
  'id' | 'key' | 'type' | 'meta' | 'status' | 'untilMs' | 'reason'
> &
  Omit<SealedSecret, 'version'>;

/** What may be changed of a credential; what is left out stays. */
export interface CredentialChange {
  /** Only while the key is this credential's; `gone` where it was removed and its key was given away again. */
  readonly id?: string;
  readonly meta?: JsonObject;
  readonly status?: CredentialStatus;
  /** Together with `status`: how long it lasts; null: without end. */
  readonly forMs?: number | null;
  readonly reason?: string | null;
  /** A new secret, sealed for `version` (the next one). */
  readonly secret?: Omit<SealedSecret, 'id'>;
}

/** Which credentials are wanted, in the order of their keys. */
export interface CredentialQuery {
  /** Only keys that sort behind this one; null from the beginning. */
  readonly after: string | null;
  readonly limit: number;
  readonly type?: CredentialType;
  readonly status?: CredentialStatus;
}

/** Credentials and their sealed secrets. */
export interface CredentialRecords {
  /** Keeps all that are new, in one transaction. For each: whether it was; `exists`: its key is taken, and that one stays. */
  insert(rows: readonly NewCredential[]): Promise<readonly ('inserted' | 'exists')[]>;
  find(key: string): Promise<(CredentialRow & { readonly secret: SealedSecret }) | null>;
  list(query: CredentialQuery): Promise<readonly CredentialRow[]>;
  /** The rows of these keys; those that are gone are left out. */
  rows(keys: readonly string[]): Promise<readonly CredentialRow[]>;
  /** Null where it is gone; `conflict` where it was changed since `revision`. @param revision null: whatever it is now */
  change(
    key: string,
    change: CredentialChange,
    revision: number | null,
  ): Promise<
    { readonly kind: 'changed'; readonly row: CredentialRow } | { readonly kind: 'gone' | 'conflict' }
  >;
  /** Removes it with its tokens; true when it was there. */
  remove(key: string): Promise<boolean>;
  /** Secrets under this key of keys, at most so many, for sealing them anew. */
  sealedUnder(kekId: string, limit: number): Promise<readonly SealedSecret[]>;
  countUnder(kekId: string): Promise<number>;
  /** Replaces seals, each only where id, version and `from` still are what they were; returns how many were. */
  reseal(seals: readonly (SealedSecret & { readonly from: string })[]): Promise<number>;
  /** Adds uses, by credential id, to the counters that `least_used` goes by, in one transaction. */
  addUses(uses: ReadonlyMap<string, { readonly uses: number; readonly lastUsedMs: number }>): Promise<void>;
  /** All uses of those that were used at this time or later. */
  usedSince(sinceMs: number): Promise<readonly UseRow[]>;
}

/** How often a credential was given out, ever. */
export interface UseRow {
  readonly id: string;
  readonly key: string;
  readonly uses: number;
}

/** How a token stands. `expired` is not kept: it follows from the time. */
export type TokenState = 'live' | 'released' | 'consumed' | 'revoked';

/** A claim on a credential. The token itself is not kept, only a keyed hash of it. */
export interface TokenRow {
  /** Hex of the keyed hash. */
  readonly hash: string;
  readonly credentialId: string;
  readonly credentialKey: string;
  readonly policy: string;
  /** Name of the API token that acquired it. */
  readonly holder: string;
  readonly context: JsonObject;
  readonly state: TokenState;
  readonly issuedMs: number;
  readonly expiresMs: number;
  readonly uses: number;
  /** Null: any number within its time. */
  readonly maxUses: number | null;
  /** Distinct addresses that redeemed it, in their order. */
  readonly addresses: readonly string[];
}

/** A token that is to be given out. */
export interface NewToken extends Pick<
  TokenRow,
  'hash' | 'credentialId' | 'credentialKey' | 'policy' | 'holder' | 'context' | 'maxUses'
> {
  readonly validMs: number;
  /** How many live tokens the credential may have; null: any number. */
  readonly slots: number | null;
}

export type Issued =
  | { readonly kind: 'issued'; readonly token: TokenRow }
  /** All slots are taken; one is free at this time by itself, or when it is released. */
  | { readonly kind: 'held'; readonly untilMs: number }
  /** The credential is gone or may not be used now. */
  | { readonly kind: 'unusable'; readonly status: CredentialStatus | 'gone' };

/** Who redeems a token, and what is allowed. */
export interface TokenUse {
  readonly hash: string;
  /** Null: whoever it is (an administrator). */
  readonly holder: string | null;
  readonly address: string;
  /** From so many addresses it may be redeemed; one more and it is revoked. */
  readonly maxAddresses: number;
}

export type TokenUsed =
  | {
      readonly kind: 'used';
      readonly token: TokenRow;
      readonly credential: CredentialRow;
      readonly secret: SealedSecret;
    }
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'refused';
      /** `leaked`: it was revoked just now, since one address too many asked. */
      readonly why: 'expired' | 'released' | 'consumed' | 'revoked' | 'used_up' | 'leaked' | 'credential';
      readonly token: TokenRow;
      /** Status of the credential, where that is why. */
      readonly status: CredentialStatus | 'gone' | null;
    };

/** Which live tokens are wanted, in the order of their hashes. */
export interface LiveTokenQuery {
  /** Only those behind this hash; null from the beginning. */
  readonly after: string | null;
  readonly limit: number;
  /** Key of the credential. */
  readonly credential?: string;
  readonly holder?: string;
  readonly policy?: string;
}

/** Tokens. A live one holds a slot of its credential until it ends or expires. */
export interface TokenRecords {
  /** Gives out a token if its credential may be used (`active`, or a rest that is over) and has a slot free; never two in one slot. */
  issue(token: NewToken): Promise<Issued>;
  /** Counts a use and gives the sealed secret, all in one transaction; a token of another holder is `unknown`. */
  use(use: TokenUse): Promise<TokenUsed>;
  /** Takes a use back that came to nothing. */
  unuse(hash: string): Promise<void>;
  /** Ends a live token and frees its slot. The token as it is then; null where there is none of this holder. */
  end(hash: string, how: Exclude<TokenState, 'live'>, holder: string | null): Promise<TokenRow | null>;
  find(hash: string): Promise<TokenRow | null>;
  /** Tokens that are live and not expired. */
  live(query: LiveTokenQuery): Promise<readonly TokenRow[]>;
  /** Revokes all live tokens of a credential; returns how many. */
  revokeOf(credentialId: string): Promise<number>;
  /** Forgets tokens that ended or expired longer ago than this; at most so many. Returns how many. */
  sweep(keepMs: number, limit: number): Promise<number>;
  /** Live tokens now by the credential's key, of those that have any; for the index of credentials. */
  liveCounts(): Promise<ReadonlyMap<string, number>>;
}
