/** What happens to credentials and tokens; part of the union in `events.ts`. No secret, no token: credentials go by their key. */

/** A credential became something else. */
export interface CredentialStatusChanged {
  readonly type: 'credential_status_changed';
  readonly credential: string;
  readonly from: string;
  readonly to: string;
  /** How long by itself; null: until somebody changes it. */
  readonly forMs: number | null;
  readonly by: 'administrator' | 'holder' | 'gateway' | 'check';
}

/** What can happen to a token. */
export const tokenEvents = [
  ...(['acquired', 'refused', 'redeemed', 'redeem_refused'] as const),
  ...(['released', 'consumed', 'revoked', 'reported'] as const),
] as const;

/** Something was done with a token, or was refused. */
export interface TokenUsed {
  readonly type: 'token_used';
  readonly what: (typeof tokenEvents)[number];
  /** The policy; empty where it is not known. */
  readonly policy: string;
  /** Key of the credential; null where it came to none. */
  readonly credential: string | null;
  /** Name of the API token. */
  readonly by: string;
  /** Why it was refused, or what was reported; empty otherwise. */
  readonly why: string;
}

export type TokenEvent = CredentialStatusChanged | TokenUsed;
