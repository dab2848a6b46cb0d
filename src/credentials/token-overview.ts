/**
 * Tokens as an administrator sees them: which are out, and taking one back by its reference, which is the keyed hash that
 * is kept of it. Nothing here can make a token of a reference.
 */
import type { LiveTokenQuery, TokenRecords, TokenRow } from '../storage/credential-ports.js';
import type { Actor } from './actor.js';
import type { Audit } from '../audit/entry.js';
import { shortHash } from './token-id.js';

/** The overview. */
export class TokenOverview {
  constructor(
    private readonly tokens: Pick<TokenRecords, 'live' | 'find' | 'end'>,
    private readonly audit: Audit,
  ) {}

  /** Tokens that are live now. Rejects with StorageAway. */
  list(query: LiveTokenQuery): Promise<readonly TokenRow[]> {
    return this.tokens.live(query);
  }

  /** Takes a token back, whoever holds it; from then on no gateway redeems it. Null where there is none of this reference. */
  async revoke(ref: string, by: Actor): Promise<TokenRow | null> {
    const found = await this.tokens.find(ref);
    if (found === null) return null;
    await this.audit.record({
      ...{ action: 'token.revoke', actor: by.name, address: by.address, outcome: 'ok' },
      ...{ credential: found.credentialKey, policy: found.policy, token: shortHash(ref) },
    });
    return this.tokens.end(ref, 'revoked', null);
  }
}
