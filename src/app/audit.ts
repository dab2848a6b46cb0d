/** The audit of a gateway put together: its sinks, its key, and the watch on its disks. */
import { watchDisks, type AuditDisk } from '../access/audit-disk.js';
import { AuditFile } from '../access/audit-file.js';
import { openAuditLog, type AuditLog } from '../access/audit-log.js';
import { AuditTable } from '../access/audit-table.js';
import type { Config } from '../config/config.js';
import type { Clock } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import type { Random } from '../core/random.js';
import type { AuditRecords } from '../storage/ports.js';
import type { Vault } from '../vault/vault.js';

/** The label of the key that chains are made with. */
export const auditLabel = 'audit';

/** Surroundings. */
export interface AuditSurroundings {
  readonly records: AuditRecords;
  readonly vault: Pick<Vault, 'subKey'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
}

/** Opens it; it goes on trying by itself where a sink can't be opened. */
export function openAudit(config: Pick<Config, 'audit' | 'storage'>, around: AuditSurroundings): AuditLog {
  const { records, vault, clock, random, emit } = around;
  const { file } = config.audit;
  const sinks = [new AuditTable(records), ...(file === null ? [] : [new AuditFile(file)])];
  const log = openAuditLog({ sinks, key: () => vault.subKey(auditLabel), clock, random, emit });
  const stopWatch = watchDisks(disksOf(config), { clock, emit });
  return {
    record: (entry) => log.record(entry),
    figures: () => log.figures(),
    reopen: () => log.reopen(),
    close: async () => {
      stopWatch();
      await log.close();
    },
  };
}

function disksOf({ audit, storage }: Pick<Config, 'audit' | 'storage'>): AuditDisk[] {
  return [
    ...(storage.kind === 'sqlite' ? [{ disk: 'database', path: storage.path } as const] : []),
    ...(audit.file === null ? [] : [{ disk: 'file', path: audit.file } as const]),
  ];
}
