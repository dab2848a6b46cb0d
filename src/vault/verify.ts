/** Opens every secret in a store, and says which don't: after a restore, or when something looks wrong. Shows none of them. */
import type { CredentialRecords } from '../storage/credential-ports.js';
import type { KeyRecords } from '../storage/ports.js';
import { fitsCheck, kekIdOf, open, placeOfSecret, type SealFault } from './envelope.js';
import { CHECK } from './first-keys.js';
import { HeldKeys } from './held-keys.js';

/** A secret that doesn't open. */
export interface BrokenSecret {
  /** Key of the credential. */
  readonly key: string;
  readonly version: number;
  readonly why: SealFault;
}

export type Verified =
  | { readonly kind: 'no_vault' }
  /** The root key is not this vault's. */
  | { readonly kind: 'wrong_key' }
  | {
      readonly kind: 'verified';
      readonly secrets: number;
      /** Terms of keys that don't open, though they are neither destroyed nor unknown. */
      readonly shutKeys: readonly number[];
      /** How many don't open. */
      readonly broken: number;
    };

const PAGE = 200;

/** What is looked at. */
export interface Verifying {
  readonly keys: KeyRecords;
  readonly credentials: Pick<CredentialRecords, 'list' | 'find'>;
}

/** Looks at all of it. @param tell hears of each secret that doesn't open @throws {StorageAway} */
export async function verify(
  { keys, credentials }: Verifying,
  root: Buffer,
  tell: (broken: BrokenSecret) => void,
): Promise<Verified> {
  const check = await keys.value(CHECK);
  if (check === null) return { kind: 'no_vault' };
  if (!fitsCheck(root, check)) return { kind: 'wrong_key' };
  const held = new HeldKeys();
  try {
    const rows = await keys.all();
    held.take(rows, root);
    const shutKeys = rows.filter((row) => held.lacks([row])).map(({ term }) => term);
    let secrets = 0;
    let broken = 0;
    let after: string | null = null;
    for (;;) {
      const page: Awaited<ReturnType<CredentialRecords['list']>> = await credentials.list({
        after,
        limit: PAGE,
      });
      for (const { key } of page) {
        const fault = await faultOf(credentials, held, key);
        if (fault === undefined) continue;
        secrets += 1;
        if (fault === null) continue;
        broken += 1;
        tell(fault);
      }
      after = page.at(-1)?.key ?? null;
      if (page.length < PAGE) return { kind: 'verified', secrets, shutKeys, broken };
    }
  } finally {
    held.wipe();
  }
}

/** Null where it opens; undefined where the credential is gone by now. */
async function faultOf(
  credentials: Verifying['credentials'],
  held: HeldKeys,
  key: string,
): Promise<BrokenSecret | null | undefined> {
  const found = await credentials.find(key);
  if (found === null) return undefined;
  const { id, version, sealed } = found.secret;
  const broken = (why: SealFault): BrokenSecret => ({ key, version, why });
  const named = kekIdOf(sealed);
  if ('why' in named) return broken(named.why);
  const kek = held.kek(named.id);
  if (kek === null) return broken('unknown_key');
  const opened = open(placeOfSecret(id, version), sealed, kek);
  if (opened.kind === 'broken') return broken(opened.why);
  opened.plaintext.fill(0);
  return null;
}
