/**
 * The desk of tokens. What a token may do is decided by the store each time it is asked, so a ban or a revocation holds
 * everywhere at once; what a secret says is opened last, when the audit has it that somebody will see it.
 */
import type { Clock } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';
import type { TokenUsed as TokenEvent } from '../core/token-events.js';
import type {
  CredentialRow,
  SealedSecret,
  TokenRecords,
  TokenRow,
  TokenState,
} from '../storage/credential-ports.js';
import { StorageAway } from '../storage/ports.js';
import { placeOfSecret } from '../vault/envelope.js';
import type { Vault } from '../vault/vault.js';
import { auditedContext, contextFault } from './acquire-context.js';
import type { Acquiring } from './acquire.js';
import type { TokenActor } from './actor.js';
import { AuditUnavailable, type Audit, type AuditEntry } from '../audit/entry.js';
import type { CredentialIndex } from './credential-index.js';
import type { IndexFeed } from './index-feed.js';
import { chainOf } from './policy-chain.js';
import type { Reporting } from './report.js';
import type { StoreTime } from './store-time.js';
import type {
  Acquired,
  AcquireAsk,
  Redeemed,
  Report,
  Reported,
  TokenDesk,
  TokenEnded,
  TokenView,
} from './token-desk.js';
import { isToken, shortHash, tokenHash } from './token-id.js';

/** What the desk works with. */
export interface TokensParts {
  readonly acquiring: Acquiring;
  readonly reporting: Reporting;
  readonly tokens: TokenRecords;
  readonly index: CredentialIndex;
  readonly feed: IndexFeed;
  readonly audit: Audit;
  readonly vault: Pick<Vault, 'subKey' | 'reveal'>;
  readonly time: StoreTime;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
}

/** The desk. */
export class Tokens implements TokenDesk {
  readonly #parts: TokensParts;

  constructor(parts: TokensParts) {
    this.#parts = parts;
  }

  async acquire(ask: AcquireAsk, by: TokenActor): Promise<Acquired> {
    const acquired = await this.#acquire(ask, by);
    const isGiven = acquired.kind === 'acquired';
    const why = acquired.kind === 'none_free' ? acquired.why : isGiven ? '' : acquired.kind;
    this.#tell(isGiven ? 'acquired' : 'refused', by, {
      policy: isGiven ? acquired.token.policy : acquired.kind === 'unknown_policy' ? '' : ask.policy,
      credential: isGiven ? acquired.token.credentialKey : null,
      why,
    });
    return acquired;
  }

  async #acquire(ask: AcquireAsk, by: TokenActor): Promise<Acquired> {
    const { feed, index } = this.#parts;
    if (!feed.isReady) throw new StorageAway('the credentials were not read yet');
    const fault = contextFault(ask.context);
    if (fault !== null) return { kind: 'invalid', problems: [fault] };
    // Another gateway may have made it a moment ago.
    if (index.policy(ask.policy) === undefined) await feed.readPolicy(ask.policy);
    const [policy, ...others] = chainOf(ask.policy, (name) => index.policy(name));
    if (policy === undefined) return { kind: 'unknown_policy' };
    await this.#jitter(policy.jitterMs);
    let best = await this.#parts.acquiring.from(policy, ask, by);
    for (const other of others) {
      if (best.kind === 'acquired' || best.kind === 'invalid') break;
      const next = await this.#parts.acquiring.from(other, ask, by);
      best = next.kind === 'acquired' || waitOf(next) < waitOf(best) ? next : best;
    }
    return best;
  }

  async redeem(token: string, by: TokenActor): Promise<Redeemed> {
    const { index, tokens } = this.#parts;
    const hash = this.#hashOf(token);
    const found = hash === null ? null : await tokens.find(hash);
    if (hash === null || found === null) return this.#unknown(by);
    const used = await tokens.use({
      ...{ hash, holder: holderOf(by), address: by.address ?? '' },
      maxAddresses: index.policy(found.policy)?.maxAddresses ?? 1,
    });
    if (used.kind === 'unknown') return this.#unknown(by);
    if (used.kind === 'refused') {
      const { why, status } = used;
      if (why === 'leaked') this.#leaked(used.token);
      // A refusal is a refusal, whether or not somebody can note it.
      await this.#record('token.redeem', used.token, by, {
        outcome: 'refused',
        detail: { why, status },
      }).catch(passOver);
      this.#tell('redeem_refused', by, { ...named(used.token), why });
      return { kind: 'refused', why, status, token: this.#view(used.token) };
    }
    const secret = await this.#open(used, by);
    index.put(used.credential);
    this.#tell('redeemed', by, { ...named(used.token), why: '' });
    const { type, meta } = used.credential;
    return { kind: 'redeemed', type, secret, meta, token: this.#view(used.token) };
  }

  /** The secret, once the audit has it; the use is taken back where that fails. */
  async #open(
    { token, credential, secret }: { token: TokenRow; credential: CredentialRow; secret: SealedSecret },
    by: TokenActor,
  ): Promise<Buffer> {
    const { tokens, vault } = this.#parts;
    try {
      await this.#record('token.redeem', token, by, { outcome: 'ok', detail: { version: secret.version } });
      return vault.reveal(placeOfSecret(credential.id, secret.version), secret.sealed);
    } catch (error) {
      await tokens.unuse(token.hash).catch(passOver);
      throw error;
    }
  }

  release(token: string, by: TokenActor): Promise<TokenEnded> {
    return this.#end(token, 'released', by);
  }

  consume(token: string, by: TokenActor): Promise<TokenEnded> {
    return this.#end(token, 'consumed', by);
  }

  revoke(token: string, by: TokenActor): Promise<TokenEnded> {
    return this.#end(token, 'revoked', by);
  }

  async report(token: string, report: Report, by: TokenActor): Promise<Reported> {
    const hash = this.#hashOf(token);
    const found = hash === null ? null : await this.#parts.tokens.find(hash);
    if (found === null || !isHis(found, by)) return this.#unknown(by);
    const reported = await this.#parts.reporting.report(found, report, by);
    this.#tell('reported', by, { ...named(found), why: report.outcome });
    return reported;
  }

  async look(token: string, by: TokenActor): Promise<TokenView | null> {
    const hash = this.#hashOf(token);
    const found = hash === null ? null : await this.#parts.tokens.find(hash);
    return found === null || !isHis(found, by) ? null : this.#view(found);
  }

  async #end(token: string, how: Exclude<TokenState, 'live'>, by: TokenActor): Promise<TokenEnded> {
    const { tokens, index, time } = this.#parts;
    const hash = this.#hashOf(token);
    const ended = hash === null ? null : await tokens.end(hash, how, holderOf(by));
    if (ended === null) return this.#unknown(by);
    if (ended.state === how && ended.expiresMs > time.nowMs()) index.free(ended.credentialKey);
    // What ended is ended; asking again records it where nobody could now.
    await this.#record(`token.${actions[how]}`, ended, by, {
      outcome: ended.state === how ? 'ok' : ended.state,
    });
    this.#tell(how, by, { ...named(ended), why: '' });
    return { kind: 'ended', token: this.#view(ended) };
  }

  #hashOf(token: string): string | null {
    return isToken(token) ? tokenHash(token, this.#parts.vault.subKey('token')) : null;
  }

  #unknown(by: TokenActor): { kind: 'unknown' } {
    this.#tell('redeem_refused', by, { policy: '', credential: null, why: 'unknown' });
    return { kind: 'unknown' };
  }

  #leaked({ hash, credentialKey: credential, policy, addresses }: TokenRow): void {
    const token = shortHash(hash);
    this.#parts.index.free(credential);
    // The one that came last is one more.
    this.#parts.emit({ type: 'token_leaked', token, credential, policy, addresses: addresses.length + 1 });
  }

  #record(
    action: string,
    { hash, credentialKey: credential, policy, context }: TokenRow,
    by: TokenActor,
    what: Pick<AuditEntry, 'outcome' | 'detail'>,
  ): Promise<void> {
    const { name: actor, address } = by;
    const token = shortHash(hash);
    const of = { action, actor, address, credential, token, policy };
    return this.#parts.audit.record({ ...of, ...auditedContext(context), ...what });
  }

  #tell(
    what: TokenEvent['what'],
    { name: by }: TokenActor,
    of: Pick<TokenEvent, 'policy' | 'credential' | 'why'>,
  ): void {
    this.#parts.emit({ type: 'token_used', what, by, ...of });
  }

  #view({ credentialKey, policy, holder, state, issuedMs, expiresMs, uses, maxUses }: TokenRow): TokenView {
    const isExpired = state === 'live' && expiresMs <= this.#parts.time.nowMs();
    const remainingUses = maxUses === null ? null : Math.max(0, maxUses - uses);
    const of = { credentialKey, policy, holder, issuedMs, expiresMs, remainingUses };
    return { ...of, state: isExpired ? 'expired' : state };
  }

  /** So that a fleet of crawlers that begins at once doesn't come at once. */
  #jitter(mostMs: number): Promise<void> {
    const { clock, random } = this.#parts;
    return mostMs === 0
      ? Promise.resolve()
      : new Promise((resolve) => void clock.after(random.float() * mostMs, resolve));
  }
}

const actions = { released: 'release', consumed: 'consume', revoked: 'revoke' } as const;

/** An administrator may do with anybody's. */
const holderOf = ({ name, isAdmin }: TokenActor): string | null => (isAdmin ? null : name);
const isHis = ({ holder }: TokenRow, { name, isAdmin }: TokenActor): boolean => isAdmin || holder === name;

const named = ({ policy, credentialKey: credential }: TokenRow): { policy: string; credential: string } => ({
  policy,
  credential,
});

/** How long until it makes sense to come back; for choosing the word of a chain of policies that has nothing. */
function waitOf(refused: Acquired): number {
  return 'retryAfterMs' in refused ? (refused.retryAfterMs ?? Number.MAX_VALUE) : Infinity;
}

function passOver(error: unknown): void {
  if (!(error instanceof AuditUnavailable) && !(error instanceof StorageAway)) throw error;
}
