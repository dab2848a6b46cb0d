/** What a login of the vault is taken for where nobody may open the vault: its key is known and nothing else. */
import type { VaultLogin } from '../upstreams/upstream.js';

/** A login that stands for the one to come, so that what it belongs to can be read and counted. */
export function loginToCome(key: string): VaultLogin {
  return { key, username: 'user', password: 'password' };
}
