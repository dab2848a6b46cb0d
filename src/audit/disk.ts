/** Watches the disks that the audit is on, since a full one stops everything that needs a record. */
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AuditDiskTurned, AuditSinkName } from '../core/alert-events.js';
import type { Clock, Timer } from '../core/clock.js';

/** Where a sink keeps what it has. */
export interface AuditDisk {
  readonly disk: AuditSinkName;
  readonly path: string;
}

/** Surroundings. */
export interface DiskParts {
  readonly clock: Clock;
  readonly emit: (event: AuditDiskTurned) => void;
  /** Percent of the disk of a path that is used, as `df` counts it; null where it can't be told. */
  readonly usedPercent?: (path: string) => Promise<number | null>;
}

const lookMs = 60_000;
/** Percent at which it is told of, and at which it is over. */
const nearlyFull = 90;
const roomy = 88;

async function usedOf(path: string): Promise<number | null> {
  try {
    const { blocks, bfree, bavail } = await statfs(dirname(path));
    const used = blocks - bfree;
    return used + bavail === 0 ? null : Math.ceil((used / (used + bavail)) * 100);
  } catch {
    return null;
  }
}

/** Looks at once and then every minute. Returns what stops it. */
export function watchDisks(disks: readonly AuditDisk[], parts: DiskParts): () => void {
  const { clock, emit, usedPercent = usedOf } = parts;
  const full = new Set<string>();
  let timer: Timer | null = null;
  let isOver = false;
  const lookAt = async ({ disk, path }: AuditDisk): Promise<void> => {
    const used = await usedPercent(path);
    if (used === null || isOver) return;
    const wasFull = full.has(path);
    // Nothing has changed, or not clearly enough.
    if (wasFull ? used >= roomy : used < nearlyFull) return;
    if (wasFull) full.delete(path);
    else full.add(path);
    emit({ type: 'audit_disk_turned', disk, state: wasFull ? 'roomy' : 'nearly_full', usedPercent: used });
  };
  const look = async (): Promise<void> => {
    for (const each of disks) await lookAt(each);
    if (!isOver && disks.length > 0) timer = clock.after(lookMs, () => void look());
  };
  void look();
  return () => {
    isOver = true;
    timer?.cancel();
  };
}
