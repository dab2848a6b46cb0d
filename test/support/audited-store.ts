/** A store with a vault and an audit in it, as a gateway leaves them, and its configuration in a file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { stringify } from 'yaml';
import { AuditFile } from '../../src/audit/file.js';
import { openAuditLog } from '../../src/audit/log.js';
import { AuditTable } from '../../src/audit/table.js';
import { systemClock } from '../../src/core/clock.js';
import { systemBytes, systemRandom } from '../../src/core/random.js';
import { openDatabase } from '../../src/storage/open-database.js';
import type { Database } from '../../src/storage/ports.js';
import { openVault } from '../../src/vault/key-vault.js';
import { entryOf } from './audit.js';

/** Where it is. */
export interface AuditedStore {
  readonly config: string;
  readonly database: string;
  readonly file: string;
  /** The key of the chains. */
  readonly key: Buffer;
}

/** Opens its database. */
export function openStore(path: string): Promise<Database> {
  return openDatabase({ kind: 'sqlite', path, callMs: 5000 }, { clock: systemClock });
}

/** Makes one in a folder, with so many records by one process. */
export async function makeAuditedStore(folder: string, records: number): Promise<AuditedStore> {
  const [database, file, config] = ['turnpike.db', 'audit.log', 'turnpike.yaml'].map((name) =>
    join(folder, name),
  );
  if (database === undefined || file === undefined || config === undefined) throw new Error('no names');
  const root = systemBytes(32);
  writeFileSync(join(folder, 'root.key'), root.toString('base64'), { mode: 0o600 });
  writeFileSync(
    config,
    stringify({
      storage: { kind: 'sqlite', path: database },
      vault: { key: 'file:root.key' },
      audit: { file },
    }),
  );
  const store = await openStore(database);
  const vault = await openVault({
    ...{ db: store, rootKey: () => Promise.resolve(Buffer.from(root)), instance: 'test' },
    ...{ clock: systemClock, chance: systemBytes, emit: () => undefined },
  });
  const key = vault.subKey('audit');
  const sinks = [new AuditTable(store.audit), new AuditFile(file)];
  const audit = openAuditLog({
    ...{ sinks, key: () => key, clock: systemClock, random: systemRandom, emit: () => undefined },
  });
  await Promise.all(Array.from({ length: records }, (_, index) => audit.record(entryOf(index))));
  await audit.close();
  await vault.close();
  await store.close();
  return { config, database, file, key };
}

/** The hand of somebody who has the database file: runs SQL behind the back of the gateway, the triggers taken off. */
export function tamperingHand(path: string): {
  run(sql: string, ...values: (string | number)[]): void;
  close(): void;
} {
  const hand = new Libsql(path);
  const triggers = hand
    .prepare("select name from sqlite_master where type = 'trigger' and tbl_name = 'audit'")
    .all([]);
  for (const { name } of triggers as { name: string }[]) hand.exec(`drop trigger ${name}`);
  return {
    run: (sql, ...values) => void hand.prepare(sql).run(values),
    close: () => void hand.close(),
  };
}
