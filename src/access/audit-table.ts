/** The audit in the database. */
import type { AuditRecords, AuditRow } from '../storage/ports.js';
import type { AuditSink, ChainHead } from './audit-sink.js';

/** Appends records to the table of the audit. */
export class AuditTable implements AuditSink {
  readonly name = 'database';
  /** Whether some of the next records may be there already, from a try whose end nobody heard. */
  private isDoubtful = true;

  constructor(private readonly records: AuditRecords) {}

  async append(rows: readonly AuditRow[]): Promise<void> {
    const fresh = this.isDoubtful ? await this.missing(rows) : rows;
    this.isDoubtful = true;
    if (fresh.length > 0) await this.records.append(fresh);
    this.isDoubtful = false;
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

  /** Those that aren't there yet; all are of one chain and in its order. */
  private async missing(rows: readonly AuditRow[]): Promise<readonly AuditRow[]> {
    const [first] = rows;
    if (first === undefined) return [];
    const there = await this.records.read(first.chain, first.n, rows.length);
    const hashes = new Map(there.map(({ n, hash }) => [n, hash]));
    return rows.filter(({ n, hash }) => {
      const known = hashes.get(n);
      if (known !== undefined && known !== hash)
        throw new Error('the table holds another record in this place');
      return known === undefined;
    });
  }
}
