/** From a secret as JSON to its seal; the plain bytes are wiped. */
import type { SealedSecret } from '../storage/credential-ports.js';
import { placeOfSecret } from '../vault/envelope.js';
import type { Vault } from '../vault/vault.js';

/** Seals the secret of a credential. @throws {VaultSealed} */
export function sealSecret(
  vault: Pick<Vault, 'seal'>,
  { id, version }: Pick<SealedSecret, 'id' | 'version'>,
  json: string,
): SealedSecret {
  const plain = Buffer.from(json, 'utf8');
  try {
    return { id, version, ...vault.seal(placeOfSecret(id, version), plain) };
  } finally {
    plain.fill(0);
  }
}
