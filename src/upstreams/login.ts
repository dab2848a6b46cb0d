/** The login in the URL of an upstream: how it is decoded, and what can't be sent (RFC 7617, RFC 1929). */
import { LONGEST_SOCKS_LOGIN } from '../protocol/socks.js';
import type { Endpoint, Part } from './upstream.js';

/** A login, and how the upstream that it is for is spoken to. */
type LoginAt = Pick<Endpoint, 'protocol' | 'login'> & Partial<Endpoint>;

/** What is said of a `direct://` with anything behind it. */
export const DIRECT_STANDS_ALONE = 'direct:// stands alone: it has no host and no login';

/** Reads `user[:password]`, each percent-decoded once. */
export function decodeLogin(userinfo: string): Part<{ username: string; password: string }> {
  const colon = userinfo.indexOf(':');
  const username = percentDecode(colon < 0 ? userinfo : userinfo.slice(0, colon));
  if (username === null) {
    return bad(
      'the user name holds a % that is not the start of a percent-encoded UTF-8 byte; write it as %25',
    );
  }
  const password = percentDecode(colon < 0 ? '' : userinfo.slice(colon + 1));
  if (password === null) {
    return bad(
      'the password holds a % that is not the start of a percent-encoded UTF-8 byte; write it as %25',
    );
  }
  return { kind: 'ok', value: { username, password } };
}

/** What makes a login impossible to send (RFC 7617, section 2; RFC 1929, section 2), or null. */
export function faultOfLogin({ protocol, login }: LoginAt): string | null {
  if (login === null) return null;
  if (protocol === 'direct') return DIRECT_STANDS_ALONE;
  const { username, password } = login;
  if (hasControl(username)) return 'the user name holds a control character';
  if (hasControl(password)) return 'the password holds a control character';
  if (!protocol.startsWith('socks'))
    return username.includes(':') ? 'a user name can not hold a colon' : null;
  if (username === '') return 'SOCKS has no login without a user name';
  if (Buffer.byteLength(username) > LONGEST_SOCKS_LOGIN)
    return 'SOCKS takes a user name of at most 255 bytes';
  if (Buffer.byteLength(password) > LONGEST_SOCKS_LOGIN) return 'SOCKS takes a password of at most 255 bytes';
  const isVersion4 = protocol === 'socks4' || protocol === 'socks4a';
  return isVersion4 && password !== '' ? 'SOCKS4 has a user name and no password' : null;
}

function hasControl(text: string): boolean {
  return /[\u0000-\u001f\u007f]/.test(text);
}

function percentDecode(text: string): string | null {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function bad(reason: string): { readonly kind: 'bad'; readonly reason: string } {
  return { kind: 'bad', reason };
}
