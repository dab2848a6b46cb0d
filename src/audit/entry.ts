/** What the audit is told: who did what with which credential, from where and for what. Never a secret, never a token. */
import type { JsonObject } from '../storage/credential-ports.js';

/** One thing that happened or is about to. */
export interface AuditEntry {
  /** `token.acquire`, `token.redeem`, `credential.create`, `key.rotate`, … */
  readonly action: string;
  /** Name of the API token or client, or `system`. */
  readonly actor: string;
  readonly address?: string | null;
  /** Key of the credential. */
  readonly credential?: string | null;
  /** A short form of the token's keyed hash. */
  readonly token?: string | null;
  readonly policy?: string | null;
  readonly target?: string | null;
  readonly task?: string | null;
  /** `ok`, `refused`, or a word that says more. */
  readonly outcome: string;
  readonly detail?: JsonObject;
}

/** What `record` rejects with when no sink took the entry in time: whatever needs it must not happen. */
export class AuditUnavailable extends Error {
  override readonly name = 'AuditUnavailable';
}

/** Where it is told. */
export interface Audit {
  /** Resolves once at least one sink has it durably. @throws {AuditUnavailable} within 2 s */
  record(entry: AuditEntry): Promise<void>;
}
