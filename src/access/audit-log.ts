/**
 * The audit of one gateway process: numbers and chains what happened, and lets what needs a record go on only when at
 * least one sink has it durably. It decides in which order and how together records are written; how a chain is hashed
 * (`audit-chain.ts`) and how a sink writes are none of its business.
 */
import type { Clock } from '../core/clock.js';
import type { Random } from '../core/random.js';
import type { VaultEvent } from '../core/vault-events.js';
import type { Audit } from './audit-entry.js';
import type { AuditSink } from './audit-sink.js';

/** Surroundings of an audit. */
export interface AuditParts {
  /** The database first; at least one. */
  readonly sinks: readonly AuditSink[];
  /** The 32 bytes that the chain is keyed with (`vault.subKey('audit')`). Throws while the vault is sealed. */
  readonly key: () => Buffer;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (event: VaultEvent) => void;
}

/** How a sink does. */
export interface SinkFigures {
  readonly sink: 'database' | 'file';
  readonly isWorking: boolean;
  readonly failures: number;
  /** Records that it has not taken yet. */
  readonly behind: number;
}

/** For metrics and `/status`. */
export interface AuditFigures {
  readonly recorded: number;
  readonly refused: number;
  readonly waiting: number;
  readonly sinks: readonly SinkFigures[];
}

/** The audit of one gateway process. */
export interface AuditLog extends Audit {
  figures(): AuditFigures;
  /** Opens the file anew, after it was moved away. */
  reopen(): void;
  /** Writes what waits, for two seconds at most, and closes the sinks. */
  close(): Promise<void>;
}
