/** The tables as Kysely types them, the same on both engines; `migrations/` makes them. JSON is text, times are milliseconds. */
import type { CredentialStatus, CredentialType, TokenState } from './credential-ports.js';
import type { Change, KeyRow } from './ports.js';

/** `credentials`: with their sealed secrets. */
export interface CredentialTable {
  readonly id: string;
  readonly key: string;
  readonly type: CredentialType;
  readonly meta: string;
  readonly status: CredentialStatus;
  readonly until_ms: number | null;
  readonly reason: string | null;
  readonly version: number;
  readonly revision: number;
  readonly kek_id: string;
  readonly sealed: Buffer;
  readonly created_ms: number;
  readonly updated_ms: number;
}

/** `credential_uses`: apart, since it changes often. */
export interface UseTable {
  readonly credential_id: string;
  readonly uses: number;
  readonly last_used_ms: number;
}

/** `policies` */
export interface PolicyTable {
  readonly id: string;
  readonly name: string;
  readonly document: string;
  readonly revision: number;
  readonly created_ms: number;
  readonly updated_ms: number;
}

/** `tokens`; `over_ms`: when it ended, or when it will. */
export interface TokenTable {
  readonly hash: string;
  readonly credential_id: string;
  readonly credential_key: string;
  readonly policy: string;
  readonly holder: string;
  readonly context: string;
  readonly state: TokenState;
  readonly issued_ms: number;
  readonly expires_ms: number;
  readonly over_ms: number;
  readonly uses: number;
  readonly max_uses: number | null;
  readonly addresses: string;
}

/** `holds`: which token holds which slot of a credential. From 0; below 0 where there is no limit. */
export interface HoldTable {
  readonly credential_id: string;
  readonly slot: number;
  readonly token_hash: string;
  readonly until_ms: number;
}

/** `audit`: never changed. */
export interface AuditTable {
  readonly chain: string;
  readonly n: number;
  readonly at_ms: number;
  readonly action: string;
  readonly actor: string;
  readonly address: string | null;
  readonly credential: string | null;
  readonly token: string | null;
  readonly policy: string | null;
  readonly target: string | null;
  readonly task: string | null;
  readonly outcome: string;
  readonly detail: string;
  readonly hash: string;
}

/** `vault_keys` */
export interface KeyTable {
  readonly id: string;
  readonly term: number;
  readonly state: KeyRow['state'];
  readonly wrapped: Buffer | null;
  readonly wraps: number;
  readonly created_ms: number;
}

/** `clients` */
export interface ClientTable {
  readonly name: string;
  readonly password_hash: string | null;
  readonly document: string;
  readonly created_ms: number;
  readonly updated_ms: number;
}

/** All of them. */
export interface Tables {
  readonly credentials: CredentialTable;
  readonly credential_uses: UseTable;
  readonly policies: PolicyTable;
  readonly tokens: TokenTable;
  readonly holds: HoldTable;
  readonly audit: AuditTable;
  readonly vault_keys: KeyTable;
  readonly vault_values: { readonly name: string; readonly value: Buffer };
  readonly claims: { readonly name: string; readonly holder: string; readonly until_ms: number };
  readonly clients: ClientTable;
  readonly instances: {
    readonly id: string;
    readonly newest_kek: string | null;
    readonly until_ms: number;
  };
  readonly once: {
    readonly name: string;
    readonly fingerprint: string;
    readonly status: number | null;
    readonly body: string | null;
    readonly until_ms: number;
  };
  readonly changes: { readonly kind: Change['kind']; readonly ref: string; readonly seq: number };
  readonly counters: { readonly name: string; readonly value: number };
}
