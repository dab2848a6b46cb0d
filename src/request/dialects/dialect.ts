/** What a proxy username can say, whatever its grammar. One file per grammar beside this one. */
import type { Failure } from '../../core/errors.js';

/** The keys that a username parameter can have; every dialect translates into these. */
export const usernameKeys = [
  'session',
  'mode',
  'ttl',
  'pool',
  'country',
  'city',
  'asn',
  'tags',
  'upstream',
  'retries',
  'timeout',
  'detect',
  'intercept',
  'explain',
  'policy',
] as const;

export type UsernameKey = (typeof usernameKeys)[number];

/** A username, taken apart. Values are checked later, by the same rules as header fields. */
export interface NativeUsername {
  readonly kind: 'username';
  /** The client's name. */
  readonly name: string;
  readonly params: ReadonlyMap<string, string>;
}

export type UsernameResult =
  | NativeUsername
  /** `name` is what the login is checked by before anyone is told what was wrong with the rest. */
  | { readonly kind: 'refused'; readonly name: string; readonly failure: Failure };

/** One grammar of proxy usernames. */
export interface Dialect {
  readonly name: string;
  /** Never throws; the text may be anything. */
  parse(username: string): UsernameResult;
}
