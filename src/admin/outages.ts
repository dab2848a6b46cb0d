/** What the parts behind the API throw where they can do nothing for a while, in the words of the API. */
import { AuditUnavailable } from '../access/audit-entry.js';
import { StorageAway } from '../storage/ports.js';
import { Problem } from './problem.js';

/** A lost database or a full disk is seldom back sooner. */
const RETRY_MS = 2000;

/** The problem that this error is; null for any other error. Says nothing of the inside. */
export function outageIn(error: unknown): Problem | null {
  if (error instanceof StorageAway)
    return new Problem(
      'storage_away',
      'The database did not answer; what was asked may be done or not.',
      RETRY_MS,
    );
  if (error instanceof AuditUnavailable)
    return new Problem(
      'audit_unavailable',
      'No sink of the audit took the record, so nothing was done.',
      RETRY_MS,
    );
  return null;
}
