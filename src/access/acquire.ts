/**
 * How a token comes about: policy → candidates → rates → a slot in the store → the audit → the answer. Whatever was taken on the
 * way to a failure is given back; the store alone decides who holds what.
 */
import type { Clock } from '../core/clock.js';
import type { Random } from '../core/random.js';
import { Secret } from '../core/secret.js';
import type { LimitHold, Limits } from '../state/ports.js';
import type { TokenRecords, TokenRow } from '../storage/credential-ports.js';
import { StorageAway } from '../storage/ports.js';
import type { Vault } from '../vault/vault.js';
import { auditedContext } from './acquire-context.js';
import type { TokenActor } from './actor.js';
import type { Audit } from './audit-entry.js';
import type { Candidate, Choice } from './candidate-choice.js';
import type { CredentialIndex } from './credential-index.js';
import { bucketFor } from './credential-filters.js';
import type { IndexFeed } from './index-feed.js';
import type { Policy } from './policy-document.js';
import type { StoreTime } from './store-time.js';
import type { Acquired, AcquireAsk } from './token-desk.js';
import { shortHash, TOKEN_BYTES, tokenHash, tokenOf } from './token-id.js';
import type { UseCounts } from './use-counts.js';

/** So many candidates are asked about in one call. */
const CANDIDATES = 8;
/** So often others are chosen when those were taken meanwhile. */
const ROUNDS = 4;
/** Another gateway's token may end any time: so long is it believed. */
const BELIEVED_MS = 1000;

/** What acquiring works with. */
export interface AcquireParts {
  readonly index: CredentialIndex;
  readonly feed: IndexFeed;
  readonly limits: Limits;
  readonly tokens: TokenRecords;
  readonly audit: Audit;
  readonly vault: Pick<Vault, 'subKey'>;
  readonly uses: UseCounts;
  readonly time: StoreTime;
  readonly clock: Clock;
  readonly random: Random;
}

type Refused = Exclude<Acquired, { kind: 'acquired' | 'unknown_policy' | 'invalid' }>;
type Given = { readonly token: TokenRow; readonly id: Secret; readonly hold: LimitHold | null };
type Tried = { readonly kind: 'given'; readonly given: Given } | { readonly kind: 'passed' } | Refused;

const held: Refused = { kind: 'none_free', why: 'held', retryAfterMs: BELIEVED_MS };

/** Gives out one token of a policy. */
export class Acquiring {
  readonly #parts: AcquireParts;

  constructor(parts: AcquireParts) {
    this.#parts = parts;
  }

  /** Of this policy alone: what it falls back to is for the caller. */
  async from(policy: Policy, ask: AcquireAsk, by: TokenActor): Promise<Acquired> {
    const wanted = bucketFor(policy, ask.context);
    if (wanted.kind === 'missing') {
      const message = `the filters of ${policy.name} ask for it: expected a text, a number, true or false`;
      return {
        kind: 'invalid',
        problems: wanted.names.map((name) => ({ path: `context.${name}`, message })),
      };
    }
    for (let round = 0; round < ROUNDS; round++) {
      const choice = this.#parts.index.choose(policy.name, wanted.bucket, CANDIDATES);
      if (choice.kind === 'none') {
        // Tokens that others gave out or that ended elsewhere are known by counting only.
        if (choice.why === 'held' && round === 0 && (await this.#parts.feed.recount())) continue;
        return this.#none(choice);
      }
      const tried = await this.#tryAll(policy, choice.candidates, { ask, by });
      if (tried.kind === 'given') return this.#record(tried.given, policy, { ask, by });
      if (tried.kind === 'none_free') return tried;
      if (tried.kind === 'limited' && tried.limit === 'policy') return tried;
    }
    return held;
  }

  #none({ why, untilMs }: Extract<Choice, { kind: 'none' }>): Refused {
    const leftMs = untilMs === null ? null : Math.max(1, Math.ceil(untilMs - this.#parts.time.nowMs()));
    if (why === 'limited')
      return { kind: 'limited', limit: 'credential', retryAfterMs: leftMs ?? BELIEVED_MS };
    return why === 'held' ? held : { kind: 'none_free', why, retryAfterMs: leftMs };
  }

  /** One after the other, until one is given out. The policy's own rate is charged once. */
  async #tryAll(
    policy: Policy,
    candidates: readonly Candidate[],
    who: { ask: AcquireAsk; by: TokenActor },
  ): Promise<Tried> {
    let common: LimitHold | null = null;
    for (let left = candidates; left.length > 0;) {
      const picked = await this.#pick(policy, left, common === null);
      if (picked.kind !== 'picked') {
        await this.#giveBack(common);
        return picked.refused;
      }
      const { candidate, hold } = picked;
      common ??= hold === null ? null : { ...hold, each: null };
      const charged = whole(hold, common);
      const given = await this.#issue(policy, candidate, who).catch(async (error: unknown) => {
        await this.#giveBack(charged);
        throw error;
      });
      if (given !== null) return { kind: 'given', given: { ...given, hold: charged } };
      await this.#giveBack(hold === null ? null : { ...hold, rate: null });
      left = left.slice(left.indexOf(candidate) + 1);
    }
    await this.#giveBack(common);
    return { kind: 'passed' };
  }

  /** The first of them whose rates allow, charged. */
  async #pick(
    { name, rate, perCredential: each }: Policy,
    left: readonly Candidate[],
    isFirst: boolean,
  ): Promise<
    { kind: 'picked'; candidate: Candidate; hold: LimitHold | null } | { kind: 'refused'; refused: Refused }
  > {
    const [first] = left;
    const common = isFirst ? rate : null;
    if (first === undefined) return { kind: 'refused', refused: held };
    if (common === null && each === null) return { kind: 'picked', candidate: first, hold: null };
    const { index, limits, time } = this.#parts;
    const candidates = left.map(({ id }) => id);
    const picked = await limits.pick({ group: name, rate: common, candidates, each });
    if (picked.kind === 'limited' && picked.which === 'group')
      return {
        kind: 'refused',
        refused: { kind: 'limited', limit: 'policy', retryAfterMs: picked.retryAfterMs },
      };
    const nowMs = time.nowMs();
    picked.waits.forEach((waitMs, at) => index.limit(name, left[at]?.key ?? '', nowMs + waitMs));
    if (picked.kind === 'limited') {
      const retryAfterMs = Math.min(...picked.waits);
      return { kind: 'refused', refused: { kind: 'limited', limit: 'credential', retryAfterMs } };
    }
    const candidate = left.find(({ id }) => id === picked.hold.candidate) ?? first;
    return { kind: 'picked', candidate, hold: picked.hold };
  }

  /** A slot of the credential; null where there is none, or it may not be used. */
  async #issue(
    policy: Policy,
    { id: credentialId, key: credentialKey }: Candidate,
    { ask, by }: { ask: AcquireAsk; by: TokenActor },
  ): Promise<Omit<Given, 'hold'> | null> {
    const { index, feed, random, tokens, vault, time } = this.#parts;
    const id = new Secret(tokenOf(Buffer.from(random.hex(TOKEN_BYTES), 'hex')));
    const hash = tokenHash(id.reveal(), vault.subKey('token'));
    index.hold(credentialKey);
    try {
      const issued = await tokens.issue({
        ...{ hash, credentialId, credentialKey, policy: policy.name, holder: by.name, context: ask.context },
        ...{ maxUses: policy.maxUses, slots: policy.slots, validMs: policy.validMs },
      });
      if (issued.kind === 'issued') {
        time.heard(issued.token.issuedMs);
        return { token: issued.token, id };
      }
      index.unhold(credentialKey);
      if (issued.kind === 'held') {
        index.doubt(credentialKey, Math.min(issued.untilMs, time.nowMs() + BELIEVED_MS));
      } else await feed.readCredentials([credentialKey]);
      return null;
    } catch (error) {
      index.unhold(credentialKey);
      // It may have been given out all the same, and nobody knows the token.
      if (error instanceof StorageAway) feed.endLater(hash);
      throw error;
    }
  }

  /** Tells the audit; a token that nobody could record is not given out. */
  async #record(
    { token, id, hold }: Given,
    policy: Policy,
    { ask, by }: { ask: AcquireAsk; by: TokenActor },
  ): Promise<Acquired> {
    const { audit, index, feed, uses } = this.#parts;
    const { credentialKey, credentialId, expiresMs, maxUses, issuedMs } = token;
    try {
      await audit.record({
        ...{ action: 'token.acquire', actor: by.name, address: by.address, outcome: 'ok' },
        ...{ credential: credentialKey, token: shortHash(token.hash), policy: policy.name },
        ...auditedContext(ask.context),
        detail: { context: ask.context, ...(ask.policy === policy.name ? {} : { asked: ask.policy }) },
      });
    } catch (error) {
      index.unhold(credentialKey);
      feed.endLater(token.hash);
      await this.#giveBack(hold);
      throw error;
    }
    uses.note(credentialId, issuedMs);
    return {
      kind: 'acquired',
      token: { id, credentialKey, policy: policy.name, expiresMs, remainingUses: maxUses },
    };
  }

  async #giveBack(hold: LimitHold | null): Promise<void> {
    if (hold !== null && (hold.rate !== null || hold.each !== null)) await this.#parts.limits.putBack(hold);
  }
}

/** All that was charged for a token: the rate in common may have been charged with a candidate before. */
function whole(hold: LimitHold | null, common: LimitHold | null): LimitHold | null {
  if (hold === null) return common;
  return { ...hold, rate: hold.rate ?? common?.rate ?? null };
}
