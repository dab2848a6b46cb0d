/**
 * Who holds a token. Tokens are kept and compared as digests under a key of this process, all of them each time: how
 * long a comparison takes says nothing about any token, nor about which one it was.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../core/secret.js';
import type { Scope } from './scopes.js';

/** A token and what it is good for. */
export interface AdminToken {
  readonly name: string;
  readonly token: Secret;
  readonly scopes: readonly Scope[];
}

/** Whoever showed a good token. */
export interface Holder {
  readonly name: string;
  readonly scopes: readonly Scope[];
}

interface Known {
  readonly digest: Buffer;
  readonly holder: Holder;
}

/** The tokens of one configuration. */
export class TokenBook {
  readonly #key = randomBytes(32);
  readonly #known: readonly Known[];

  constructor(tokens: readonly AdminToken[]) {
    this.#known = tokens.map(({ name, token, scopes }) => ({
      digest: this.#digestOf(token.reveal()),
      holder: { name, scopes },
    }));
  }

  /** The holder of the token in an Authorization field; null for any other value, of whatever length and alphabet. */
  holderOf(authorization: string | undefined): Holder | null {
    const match = /^bearer +([^\s].*?) *$/is.exec(authorization ?? '');
    // The field comes as latin1, one character per byte.
    const digest = this.#digestOf(Buffer.from(match?.[1] ?? '', 'latin1'));
    let holder: Holder | null = null;
    for (const known of this.#known) {
      if (timingSafeEqual(digest, known.digest) && match !== null) holder = known.holder;
    }
    return holder;
  }

  #digestOf(token: string | Buffer): Buffer {
    return createHmac('sha256', this.#key).update(token).digest();
  }
}
