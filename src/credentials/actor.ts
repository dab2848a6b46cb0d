/** Who asks a desk for something, as the audit and the tokens know them. */

/** Somebody. */
export interface Actor {
  /** Name of the API token or client, or `system`. */
  readonly name: string;
  /** Where the request came from; null where nobody sent one. */
  readonly address: string | null;
}

/** Somebody who may have authority over the tokens of others. */
export interface TokenActor extends Actor {
  /** May revoke, look at and redeem what others acquired. */
  readonly isAdmin: boolean;
}

/** Something that is wrong with what was sent; for the one who sent it, and never a byte of a secret. */
export interface InputProblem {
  /** Such as `constraints.rate_limit`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}
