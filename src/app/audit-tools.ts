/** What commands do to the audit without a gateway: the whole of it is verified, in the database and in files. */
import { ChainCheck, type Anchor, type Finding, type Verdict } from '../audit/check.js';
import { anchorsIn, checkFile } from '../audit/reading.js';
import type { Config } from '../config/config.js';
import { systemClock } from '../core/clock.js';
import { openDatabase } from '../storage/open-database.js';
import type { AuditRecords, Database } from '../storage/ports.js';
import { readRootKey, RootKeyTrouble } from '../vault/root-key.js';
import { subKeyIn } from '../vault/sub-keys.js';

/** What is verified. */
export interface AuditPlaces {
  /** Files of the audit, the eldest first. */
  readonly files: readonly string[];
  /** Other files that hold anchors: logs of gateways. */
  readonly anchors: readonly string[];
  /** Whether the files begin in the middle of chains, since older ones are gone. */
  readonly continues: boolean;
}

/** What was found; null: there was nothing to look at. */
export interface AuditReport {
  readonly database: Verdict;
  readonly file: Verdict | null;
}

const portion = 1000;

/** Verifies. @throws {RootKeyTrouble} @throws {StorageAway} @throws {StorageRefused} */
export async function verifyAudit(config: Config, places: AuditPlaces): Promise<AuditReport> {
  const store = await openDatabase(config.storage, { clock: systemClock });
  try {
    const key = await auditKey(config, store);
    const file = places.files.length === 0 ? null : await verifyFiles(store.audit, key, places);
    const anchors: Anchor[] = [...(file?.heads ?? [])];
    for (const each of [...places.files, ...places.anchors]) anchors.push(...(await anchorsIn(each)));
    return { database: await verifyTable(store.audit, key, anchors), file };
  } finally {
    await store.close();
  }
}

async function auditKey({ vault }: Config, { keys }: Database): Promise<Buffer> {
  if (vault === null) throw new RootKeyTrouble('the configuration names no root key (vault.key)');
  const root = await readRootKey(vault, systemClock);
  try {
    const found = await subKeyIn(keys, root, 'audit');
    if (found.kind === 'key') return found.key;
    const why = {
      no_vault: 'there is no vault in this store, so nothing was recorded',
      wrong_key: 'the root key is not the one of this vault',
      damaged: 'the key that the audit is chained with does not open: the store is damaged',
    };
    throw new RootKeyTrouble(why[found.kind]);
  } finally {
    root.fill(0);
  }
}

/** Files first: what stands in the database before must be in them, and what is in them must be in the database after. */
async function verifyFiles(table: AuditRecords, key: Buffer, places: AuditPlaces): Promise<Verdict> {
  const inTable = new Map((await table.heads()).map((head) => [head.chain, head.n]));
  const check = new ChainCheck({ key, sink: 'file', continues: places.continues });
  for (const each of places.files) await checkFile(each, check);
  const verdict = check.finish();
  const behind = verdict.heads.flatMap(({ chain, n }): Finding[] => {
    const there = inTable.get(chain) ?? 0;
    return there > n ? [{ kind: 'truncated', chain, n: n + 1, to: there }] : [];
  });
  return { ...verdict, findings: [...verdict.findings, ...behind] };
}

async function verifyTable(table: AuditRecords, key: Buffer, anchors: readonly Anchor[]): Promise<Verdict> {
  const check = new ChainCheck({ key, sink: 'database', continues: false });
  for (const each of anchors) check.anchor(each);
  for (const { chain } of await table.heads()) {
    for (let from = 1; ;) {
      const rows = await table.read(chain, from, portion);
      for (const row of rows) check.add(row);
      from = (rows.at(-1)?.n ?? from) + 1;
      if (rows.length < portion) break;
    }
  }
  return check.finish();
}
