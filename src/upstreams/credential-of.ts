/**
 * Under whose account an exit goes out: the login that its seller knows. Exits of one login share it, and so do all exits
 * of a template, whose logins differ in the session only. Whoever asks gets the user name, or the key of a login that is
 * in the vault; never the password.
 */
import { idOf } from './id-of.js';
import type { Upstream } from './upstream.js';

/** How ids of credentials begin; those of exits begin otherwise. */
export const CREDENTIAL_PREFIX = 'c-';

/** What tells one credential from another; null where the exit has no login, or one without a user name. */
export function credentialOf({
  login,
  template,
  credential,
}: Pick<Upstream, 'login' | 'template' | 'credential'>): string | null {
  if (credential !== undefined) return `vault:${credential}`;
  const name = template === undefined ? login?.username : template.template.base.login?.username;
  return name === undefined || name === '' ? null : name;
}

/** How a credential is shown: a hash, as ids of exits are. */
export function credentialId(credential: string): string {
  return idOf(`credential\n${credential}`, CREDENTIAL_PREFIX);
}
