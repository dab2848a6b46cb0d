/**
 * What outlives the process, opened before the rules are built, since pools may ask for logins there: the database, the
 * vault over it and the audit. Nothing is opened where neither a vault nor a storage is configured.
 */
import { watchDisks, type AuditDisk } from '../audit/disk.js';
import { AuditUnavailable, type Audit } from '../audit/entry.js';
import { AuditFile } from '../audit/file.js';
import { openAuditLog, type AuditLog } from '../audit/log.js';
import { AuditTable } from '../audit/table.js';
import type { Config, VaultConfig } from '../config/config.js';
import type { Clock } from '../core/clock.js';
import type { Emit } from '../core/events.js';
import { systemBytes, systemRandom, type Random } from '../core/random.js';
import { openDatabase } from '../storage/open-database.js';
import type { Database } from '../storage/ports.js';
import { openVault } from '../vault/key-vault.js';
import { readRootKey } from '../vault/root-key.js';
import type { Vault } from '../vault/vault.js';

/** What they are opened with. */
export interface StoreParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: Emit;
}

/** The vault with its audit. */
export interface OpenedVault {
  readonly vault: Vault;
  readonly audit: AuditLog;
  /** A key source that a reload named; used from the next time that the key is asked for. */
  useKeyFrom(source: VaultConfig): void;
}

/** All of it. */
export interface Stores {
  readonly database: Database;
  /** Null where no root key is configured. */
  readonly opened: OpenedVault | null;
  /** The vault's audit; where there is none, one that refuses everything. */
  readonly audit: Audit;
  /** Writes what waits, and lets go of everything. */
  close(): Promise<void>;
}

/** Opens them. A database or a key that is away is no failure. @throws {StorageRefused} where the database is none of ours */
export async function openStores(config: Config, parts: StoreParts): Promise<Stores | null> {
  if (config.vault === null && !config.storage.isSet) return null;
  const database = await openDatabase(config.storage, { clock: parts.clock });
  const opened = config.vault === null ? null : await openKeyed(config, config.vault, { ...parts, database });
  const stopWatch = opened === null ? () => undefined : watchDisks(disksOf(config), parts);
  return {
    ...{ database, opened, audit: opened?.audit ?? noAudit },
    close: async () => {
      stopWatch();
      await opened?.audit.close();
      await opened?.vault.close();
      await database.close();
    },
  };
}

async function openKeyed(
  config: Config,
  configured: VaultConfig,
  { clock, random, emit, database }: StoreParts & { readonly database: Database },
): Promise<OpenedVault> {
  let source = configured;
  const vault = await openVault({
    ...{ db: database, clock, emit, chance: systemBytes, instance: systemRandom.hex(16) },
    rootKey: () => readRootKey(source, clock),
  });
  const { file } = config.audit;
  const sinks = [new AuditTable(database.audit), ...(file === null ? [] : [new AuditFile(file)])];
  const audit = openAuditLog({ sinks, key: () => vault.subKey('audit'), clock, random: idsOf(random), emit });
  return {
    ...{ vault, audit },
    useKeyFrom: (next) => {
      source = next;
    },
  };
}

/** Where the audit is on a disk of this machine. */
function disksOf({ storage, audit: { file } }: Config): AuditDisk[] {
  return [
    ...(storage.kind === 'sqlite' ? [{ disk: 'database', path: storage.path } as const] : []),
    ...(file === null ? [] : [{ disk: 'file', path: file } as const]),
  ];
}

/** Chance for choices as it is given; ids always from the machine, so that they are unique and nobody guesses them. */
export function idsOf(random: Random): Random {
  return {
    float: () => random.float(),
    below: (limit) => random.below(limit),
    hex: (bytes) => systemRandom.hex(bytes),
  };
}

const noAudit: Audit = {
  record: () => Promise.reject(new AuditUnavailable('there is no vault, and so no key for an audit')),
};
