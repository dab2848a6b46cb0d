/**
 * Turnpike's own username grammar:
 *
 *     username  = NAME *( "+" key "=" value )
 *     NAME      = *( any character but "+" )        empty only where no login is asked
 *     key       = "session" / "mode" / "ttl" / "pool" / "country" / "city" / "asn" / "tags" / "upstream"
 *               / "retries" / "timeout" / "detect" / "intercept" / "explain" / "policy"
 *     value     = 1*( letter / digit / "-" / "." / "_" / "~" / "," )
 *
 * Keys in lower case, in any order, each at most once; 1,024 characters in all.
 *
 *     crawler                                the client `crawler`, nothing else
 *     crawler+session=cart-17                sticky session `cart-17`
 *     crawler+country=us+tags=fast,cheap     filters
 *
 * Refused: `crawler+` and `crawler+session` (no value), `crawler+session=` (empty), `crawler+sesion=a` (unknown key),
 * `crawler+ttl=60+ttl=90` (repeated), `crawler+city=new york` (blank in a value; write `new_york`).
 * `crawler-session-a1` is not refused: it is a client of that name.
 */
import type { Failure } from '../../core/errors.js';
import { usernameKeys } from './dialect.js';
import type { Dialect, UsernameResult } from './dialect.js';

const LONGEST = 1024;
const KEY = /^[a-z][a-z0-9_-]{0,31}$/i;
const VALUE = /^[A-Za-z0-9._~,-]+$/;
const knownKeys: ReadonlySet<string> = new Set(usernameKeys);
const noParams: ReadonlyMap<string, string> = new Map();

/** Takes a username apart by the grammar above. */
export function parseNativeUsername(text: string): UsernameResult {
  const plus = text.indexOf('+');
  const name = plus < 0 ? text : text.slice(0, plus);
  const refuse = (detail: string): UsernameResult => ({
    kind: 'refused',
    name,
    failure: badUsername(detail),
  });
  if (text.length > LONGEST) return refuse('is longer than 1024 characters.');
  if (plus < 0) return { kind: 'username', name, params: noParams };
  const params = new Map<string, string>();
  for (const part of text.slice(plus + 1).split('+')) {
    const fault = addParam(params, part);
    if (fault !== null) return refuse(fault);
  }
  return { kind: 'username', name, params };
}

/** Adds one `key=value`, or says what is wrong with it. Nothing but a well-formed key is repeated to the client. */
function addParam(params: Map<string, string>, part: string): string | null {
  const equals = part.indexOf('=');
  const key = equals < 0 ? part : part.slice(0, equals);
  if (!KEY.test(key)) return `has a parameter that is not key=value. ${HINT}`;
  if (!knownKeys.has(key)) return `has an unknown parameter ${key}. ${HINT}`;
  if (equals < 0 || equals === part.length - 1) return `has the parameter ${key} without a value.`;
  if (params.has(key)) return `has the parameter ${key} twice.`;
  const value = part.slice(equals + 1);
  if (!VALUE.test(value)) return `has a character in the value of ${key} that is not allowed there.`;
  params.set(key, value);
  return null;
}

const HINT = `Write NAME+key=value+key=value with the keys ${usernameKeys.join(', ')}.`;

function badUsername(detail: string): Failure {
  return { code: 'bad_request', detail: `The proxy username ${detail}` };
}

/** The dialect that is spoken where no other is chosen. */
export const nativeDialect: Dialect = { name: 'native', parse: parseNativeUsername };
