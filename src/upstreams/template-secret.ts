/** `{secret}` in a template: the password of a credential, whose user name the template has already. */
import { Secret } from '../core/secret.js';
import { faultOfLogin } from './login.js';
import type { Piece } from './template.js';
import { upstreamId, vaultIdentity } from './upstream.js';
import type { ParsedUpstream, Upstream, UpstreamLogin, VaultLogin } from './upstream.js';

/** `{secret}` and a credential belong together, and a user name is shown where a password is not. */
export function faultOfSecret(
  username: readonly Piece[],
  password: readonly Piece[],
  vaulted: VaultLogin | undefined,
): string | null {
  const has = (pieces: readonly Piece[]): boolean => pieces.some(({ kind }) => kind === 'secret');
  if (has(username)) return 'a template holds {secret} in its password only';
  if (vaulted === undefined)
    return has(password) ? '{secret} needs a credential beside the template: "vault:KEY"' : null;
  return has(password) ? null : 'with a credential, the password of a template holds {secret}';
}

/**
 * What the exits of a template have in common, with the password in its place. The exits stay what they are when it
 * changes, and whoever compares logins sees that it did.
 */
export function withSecret(
  upstream: Upstream,
  { username, password }: UpstreamLogin,
  vaulted: VaultLogin,
): ParsedUpstream {
  const filled = password.reveal().split('{secret}').join(vaulted.password);
  const reason = faultOfLogin({ ...upstream, login: { username, password: filled } });
  if (reason !== null) return { kind: 'bad', reason };
  return {
    kind: 'upstream',
    upstream: {
      ...upstream,
      id: upstreamId(upstream, `${vaultIdentity(vaulted.key)}\nuser\n${username}`),
      login: { username, password: new Secret(filled) },
      credential: vaulted.key,
    },
  };
}
