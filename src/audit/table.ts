/** The audit in the database. */
import type { AuditRecords, AuditRow } from '../storage/ports.js';
import type { AuditSink, ChainHead } from './sink.js';

/** Appends records to the table of the audit; what is there already, word by word, is there once. */
export class AuditTable implements AuditSink {
  readonly name = 'database';

  constructor(private readonly records: AuditRecords) {}

  append(rows: readonly AuditRow[]): Promise<void> {
    return this.records.append(rows);
  }

  anchor(): Promise<void> {
    return Promise.resolve();
  }

  heads(): Promise<readonly ChainHead[]> {
    return this.records.heads();
  }

  read(chain: string, from: number, limit: number): Promise<readonly AuditRow[]> {
    return this.records.read(chain, from, limit);
  }

  reopen(): void {
    // A table is never moved away.
  }

  /** The database is closed by whoever opened it. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
