/**
 * Tokens: acquire, redeem, release, consume, report, revoke. A token is a reference to a credential for a while; whoever acquired
 * it is its holder, and to anybody else it is unknown. All methods may reject with `StorageAway` (the store can't be asked),
 * `VaultSealed` (no keys, so no token can be looked up) and `AuditUnavailable` (nobody could record it, so nothing was given out).
 */
import type { Secret } from '../core/secret.js';
import type {
  CredentialStatus,
  CredentialType,
  JsonObject,
  TokenState,
} from '../storage/credential-ports.js';
import type { InputProblem, TokenActor } from './actor.js';
import type { Sight } from './credential-status.js';

/** What is wanted. */
export interface AcquireAsk {
  readonly policy: string;
  /** `target`, `task_id`, `task_type`, `region` and what else filters refer to. Bounded: 4 KiB as JSON, checked here. */
  readonly context: JsonObject;
}

/** A token that was given out. */
export interface AcquiredToken {
  /** The token itself: `tpk_…`. Shown once; nobody can find it again. */
  readonly id: Secret;
  readonly credentialKey: string;
  /** The policy that gave it: the one that was asked for, or one that it falls back to. */
  readonly policy: string;
  readonly expiresMs: number;
  /** Null: any number. */
  readonly remainingUses: number | null;
}

export type Acquired =
  | { readonly kind: 'acquired'; readonly token: AcquiredToken }
  | { readonly kind: 'unknown_policy' }
  | { readonly kind: 'invalid'; readonly problems: readonly InputProblem[] }
  /** A rate is used up: the policy's own, or that of each credential that is free. */
  | { readonly kind: 'limited'; readonly limit: 'policy' | 'credential'; readonly retryAfterMs: number }
  /**
   * No credential is to be had. `no_match`: the filters let none through; `resting`: all that match rest or may not be used;
   * `held`: others hold them. @property retryAfterMs null where time alone changes nothing
   */
  | {
      readonly kind: 'none_free';
      readonly why: 'no_match' | 'resting' | 'held';
      readonly retryAfterMs: number | null;
    };

/** A token without the token, for people and programs. */
export interface TokenView {
  readonly credentialKey: string;
  readonly policy: string;
  readonly holder: string;
  /** What holds now: `expired` follows from the time. */
  readonly state: TokenState | 'expired';
  readonly issuedMs: number;
  readonly expiresMs: number;
  readonly remainingUses: number | null;
}

export type Redeemed =
  | {
      readonly kind: 'redeemed';
      readonly type: CredentialType;
      /** The secret as JSON text in UTF-8: a string, or an object (`credential-secret.ts`). Wipe it (`fill(0)`) once it is sent. */
      readonly secret: Buffer;
      readonly meta: JsonObject;
      readonly token: TokenView;
    }
  | { readonly kind: 'unknown' }
  | {
      readonly kind: 'refused';
      /** `leaked`: one address too many asked for it, so it was revoked just now; `credential`: see `status`. */
      readonly why: 'expired' | 'released' | 'consumed' | 'revoked' | 'used_up' | 'leaked' | 'credential';
      /** Of the credential, where that is why. */
      readonly status: CredentialStatus | 'gone' | null;
      readonly token: TokenView;
    };

export type TokenEnded =
  /** As it is now. Ending what ended already is no fault: `token.state` says how it ended. */
  { readonly kind: 'ended'; readonly token: TokenView } | { readonly kind: 'unknown' };

/** What the holder saw of the credential. */
export interface Report {
  readonly outcome: Sight;
  /** How long the site said to wait, where it said so. */
  readonly forMs?: number | undefined;
  /** For people; at most 200 characters are kept. */
  readonly reason?: string | undefined;
}

export type Reported =
  | {
      readonly kind: 'reported';
      readonly credentialKey: string;
      readonly status: CredentialStatus;
      readonly untilMs: number | null;
      /** Whether this report made it so. */
      readonly isChanged: boolean;
    }
  | { readonly kind: 'unknown' }
  /** The token was revoked, or is over for longer than its reports are taken (5 minutes). */
  | { readonly kind: 'too_late' }
  /** The credential is gone. */
  | { readonly kind: 'gone' };

/** The desk. Tokens come in as they were sent; what can't be one is `unknown`. */
export interface TokenDesk {
  /** Waits for the policy's jitter first. */
  acquire(ask: AcquireAsk, by: TokenActor): Promise<Acquired>;
  /** Counts as a use. Needs `by.address`: the address is what leaks are seen by. */
  redeem(token: string, by: TokenActor): Promise<Redeemed>;
  release(token: string, by: TokenActor): Promise<TokenEnded>;
  /** For tokens that are good for one task: it is over, and may not be used again. */
  consume(token: string, by: TokenActor): Promise<TokenEnded>;
  /** For administrators, of any holder; from then on no gateway redeems it. */
  revoke(token: string, by: TokenActor): Promise<TokenEnded>;
  report(token: string, report: Report, by: TokenActor): Promise<Reported>;
  /** Null where it is unknown. No use. */
  look(token: string, by: TokenActor): Promise<TokenView | null>;
}
