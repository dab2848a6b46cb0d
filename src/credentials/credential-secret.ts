/**
 * What the secret of each type looks like: as it is sent, as it is kept (JSON text, sealed) and as redeem gives it back – the
 * same. PURE. No message tells a byte of it.
 *
 *     username_password   {"username": "…", "password": "…"}   or "user:pass", parted at the first colon; kept as the object
 *     api_key             "…"                                   one line
 *     cookie_string       "a=1; b=2"                            as in a Cookie field; `Cookie:` before it is taken off
 *     oauth2_token        "…" or {"access_token": "…", …}       any object with an access_token
 */
import type { CredentialType } from '../storage/credential-ports.js';

/** A secret is at most so many bytes as JSON. */
export const MOST_SECRET_BYTES = 65_536;

export type SecretRead =
  | { readonly kind: 'secret'; readonly json: string }
  /** What was expected. */
  | { readonly kind: 'invalid'; readonly message: string };

const readers: Readonly<Record<CredentialType, (sent: unknown) => unknown>> = {
  username_password: readLogin,
  api_key: (sent) => oneLine(sent),
  cookie_string: readCookies,
  oauth2_token: (sent) => (typeof sent === 'string' ? oneLine(sent) : readGrant(sent)),
};

const wanted: Readonly<Record<CredentialType, string>> = {
  username_password: 'expected {"username": "…", "password": "…"} or "user:pass"',
  api_key: 'expected one line of text',
  cookie_string: 'expected cookies as in a Cookie field: "name=value; name=value"',
  oauth2_token: 'expected one line of text, or an object with an access_token',
};

/** Reads a secret as it is sent. */
export function readSecret(type: CredentialType, sent: unknown): SecretRead {
  const value = readers[type](sent);
  if (value === null) return { kind: 'invalid', message: wanted[type] };
  const json = JSON.stringify(value);
  return Buffer.byteLength(json) > MOST_SECRET_BYTES
    ? { kind: 'invalid', message: `longer than ${MOST_SECRET_BYTES} bytes` }
    : { kind: 'secret', json };
}

function oneLine(sent: unknown): string | null {
  return typeof sent === 'string' && sent.trim() !== '' && !/[\u0000-\u001f\u007f]/.test(sent)
    ? sent.trim()
    : null;
}

function readLogin(sent: unknown): { username: string; password: string } | null {
  if (typeof sent === 'string') {
    const colon = sent.indexOf(':');
    return colon < 1 ? null : login(sent.slice(0, colon), sent.slice(colon + 1));
  }
  if (!isObject(sent) || Object.keys(sent).some((name) => name !== 'username' && name !== 'password'))
    return null;
  return login(sent['username'], sent['password']);
}

/** A password may have spaces at its ends, and be empty: some proxies want only a name. */
function login(username: unknown, password: unknown): { username: string; password: string } | null {
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && !/[\u0000\r\n]/.test(value);
  return isText(username) && isText(password) && username !== '' ? { username, password } : null;
}

function readCookies(sent: unknown): string | null {
  const text = oneLine(sent)?.replace(/^cookie:\s*/i, '') ?? '';
  const pairs = text.split(';').map((pair) => pair.trim());
  const isPair = (pair: string): boolean => /^[^\s=,"\\]+=/.test(pair);
  return pairs.some((pair) => pair !== '') && pairs.every((pair) => pair === '' || isPair(pair))
    ? text
    : null;
}

function readGrant(sent: unknown): object | null {
  return isObject(sent) && oneLine(sent['access_token']) !== null ? sent : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
