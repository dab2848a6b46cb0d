/** Basic credentials as clients send them (RFC 7617). */
import { isUtf8 } from 'node:buffer';

export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  /** Another scheme, bad base64, no colon, a control character. */
  | { readonly kind: 'malformed' };

const NONE: Credentials = { kind: 'none' };
const MALFORMED: Credentials = { kind: 'malformed' };
const LONGEST = 8192;
const BASIC = /^basic +([A-Za-z0-9+/]+={0,2})$/i;
const CONTROL = /[\0-\x1f\x7f]/;

/**
 * Reads the value of a Proxy-Authorization field. The scheme may be in any case; base64 is taken strictly; the
 * username ends at the first colon, the password may hold more of them.
 */
export function readBasic(value: string | undefined): Credentials {
  if (value === undefined) return NONE;
  const token = value.length > LONGEST ? undefined : BASIC.exec(value)?.[1];
  if (token === undefined) return MALFORMED;
  const bytes = Buffer.from(token, 'base64');
  if (bytes.toString('base64') !== token) return MALFORMED;
  const text = textOf(bytes);
  const colon = text.indexOf(':');
  if (colon < 0 || CONTROL.test(text)) return MALFORMED;
  return { kind: 'basic', username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** UTF-8, as our challenge asks for; else latin1, which Python's requests sends whatever the challenge says. */
function textOf(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
}
