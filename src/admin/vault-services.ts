/** What the routes about credentials, policies, tokens, audit and keys need; `app/` makes it where there is a vault. */
import type { Audit } from '../audit/entry.js';
import type { CredentialDesk } from '../credentials/credential-desk.js';
import type { PolicyDesk } from '../credentials/policy-desk.js';
import type { TokenDesk } from '../credentials/token-desk.js';
import type { TokenOverview } from '../credentials/token-overview.js';
import type { AuditRecords, OnceRecords } from '../storage/ports.js';
import type { Vault } from '../vault/vault.js';
import type { OnceParts } from './once.js';
import { Problem } from './problem.js';
import type { ProblemCode } from './problem-codes.js';

/** All of it. */
export interface VaultServices {
  readonly vault: Pick<Vault, 'state' | 'subKey' | 'keys' | 'unseal' | 'rotation'>;
  readonly credentials: CredentialDesk;
  readonly policies: PolicyDesk;
  readonly tokens: TokenDesk;
  readonly overview: Pick<TokenOverview, 'list' | 'revoke'>;
  readonly audit: Audit & Pick<AuditRecords, 'search'>;
  readonly once: OnceRecords;
}

/** How it is, in a word each. */
export interface VaultStatus {
  readonly vault: 'off' | 'sealed' | 'open';
  readonly storage: 'off' | 'up' | 'away';
}

/** Problems of every route that looks into the database. */
export const lookProblems: readonly ProblemCode[] = ['vault_off', 'storage_away'];

/** Problems of every route that uses secrets, or changes anything that the audit is told of. */
export const useProblems: readonly ProblemCode[] = [...lookProblems, 'vault_sealed', 'audit_unavailable'];

/** The services, for whoever only looks. @throws {Problem} where there is no vault */
export function knownVault(vault: VaultServices | null): VaultServices {
  if (vault !== null) return vault;
  throw new Problem('vault_off', 'Neither TURNPIKE_VAULT_KEY nor vault.key or vault.command is set.');
}

/** The services, for whoever uses secrets. @throws {Problem} where there is no vault or it is sealed */
export function openVault(services: VaultServices | null): VaultServices {
  const known = knownVault(services);
  const { state } = known.vault;
  if (state.kind === 'sealed') throw sealedProblem(state);
  return known;
}

/** What a sealed vault is to whoever asks. */
export function sealedProblem({
  why,
  isStore,
}: {
  readonly why: string;
  readonly isStore: boolean;
}): Problem {
  return new Problem(isStore ? 'storage_away' : 'vault_sealed', why);
}

/** What makes a creation happen once. */
export function onceIn({ once, vault }: VaultServices): OnceParts {
  return { records: once, key: () => vault.subKey('once') };
}
