/** What the parts behind the API throw where they can do nothing for a while, in the words of the API. */
import { AuditUnavailable } from '../audit/entry.js';
import { StorageAway } from '../storage/ports.js';
import { VaultSealed } from '../vault/vault.js';
import { Problem } from './problem.js';

/** The problem that this error is; null for any other error. Says nothing of the inside. */
export function outageIn(error: unknown): Problem | null {
  if (error instanceof StorageAway)
    return new Problem('storage_away', 'The database did not answer; what was asked may be done or not.');
  if (error instanceof AuditUnavailable)
    return new Problem('audit_unavailable', 'No sink of the audit took the record, so nothing was done.');
  if (error instanceof VaultSealed)
    return new Problem('vault_sealed', 'The vault has no keys now, so nothing was done.');
  return null;
}
