/** What the audit writes to: a database or a file. It keeps the order it is given, and says what it has. */
import type { AuditSinkName } from '../core/alert-events.js';
import type { AuditRow } from '../storage/ports.js';

/** The last record of a chain, as somebody saw it. */
export type ChainHead = Pick<AuditRow, 'chain' | 'n' | 'hash' | 'atMs'>;

/** Takes records for good. */
export interface AuditSink {
  readonly name: AuditSinkName;
  /** Resolves once all of them are durable. After a rejection some may be there: the same are given again. */
  append(rows: readonly AuditRow[]): Promise<void>;
  /** Writes down how far a chain has come. */
  anchor(head: ChainHead): Promise<void>;
  /** The last record of each chain that it knows. */
  heads(): Promise<readonly ChainHead[]>;
  /** Opens it anew, after it was moved away. */
  reopen(): void;
  /** Records of one chain in order, from place `from`, at most so many: what another sink lacks. */
  read(chain: string, from: number, limit: number): Promise<readonly AuditRow[]>;
  close(): Promise<void>;
}
