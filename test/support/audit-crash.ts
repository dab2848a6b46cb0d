/** Kills a process that records, again and again, and looks what is left of what it was told was kept. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { ChainCheck, isFault, type Finding } from '../../src/audit/check.js';
import { readAuditLine } from '../../src/audit/lines.js';
import { checkFile, linesOf } from '../../src/audit/reading.js';
import { systemClock } from '../../src/core/clock.js';
import type { Random } from '../../src/core/random.js';
import { openDatabase } from '../../src/storage/open-database.js';
import type { Database } from '../../src/storage/ports.js';
import { auditKey } from './audit.js';

const writer = resolve(import.meta.dirname, 'audit-writer.mjs');

/** Where the records are; null: not there. */
export interface CrashPlaces {
  readonly file: string | null;
  readonly database: string | null;
}

/** Lets one record until it has said so many, and kills it a little later. What it said, in its order. */
export function recordUntilKilled(places: CrashPlaces, name: string, random: Random): Promise<string[]> {
  const child = spawn(process.execPath, [writer, places.file ?? '-', places.database ?? '-', name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const killAt = 1 + random.below(400);
  let text = '';
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
    if (text.split('\n').length > killAt) child.kill('SIGKILL');
  });
  return new Promise((done, reject) => {
    child.once('close', (code, signal) => {
      // The last line may be half a one.
      if (signal === 'SIGKILL') done(text.split('\n').slice(0, -1));
      else reject(new Error(`the writer ended by itself with ${code}`));
    });
  });
}

/** What is wrong with the records, and which tasks they name. */
export interface Looked {
  readonly faults: readonly Finding[];
  readonly tasks: ReadonlySet<string>;
}

/** Looks into a file. */
export async function lookAtFile(path: string): Promise<Looked> {
  const check = new ChainCheck({ key: auditKey, sink: 'file', continues: false });
  await checkFile(path, check);
  const tasks = new Set<string>();
  for await (const { text } of linesOf(path)) {
    const line = readAuditLine(text);
    if (line.kind === 'record' && line.row.task !== null) tasks.add(line.row.task);
  }
  return { faults: check.finish().findings.filter(isFault), tasks };
}

/** Looks into a database. */
export async function lookAtDatabase(path: string): Promise<Looked> {
  const database = await openDatabase({ kind: 'sqlite', path, callMs: 5000 }, { clock: systemClock });
  try {
    return await lookAtTable(database);
  } finally {
    await database.close();
  }
}

async function lookAtTable({ audit }: Database): Promise<Looked> {
  const check = new ChainCheck({ key: auditKey, sink: 'database', continues: false });
  const tasks = new Set<string>();
  for (const { chain } of await audit.heads()) {
    for (let from = 1; ; from += 1000) {
      const rows = await audit.read(chain, from, 1000);
      for (const row of rows) {
        check.add(row);
        if (row.task !== null) tasks.add(row.task);
      }
      if (rows.length < 1000) break;
    }
  }
  return { faults: check.finish().findings.filter(isFault), tasks };
}

/** Rounds of recording and killing on the same places; fails at the first record that was acknowledged and is gone. */
export async function crashRounds(
  places: CrashPlaces,
  rounds: number,
  random: Random,
): Promise<{ readonly acknowledged: number }> {
  const said: string[] = [];
  for (let round = 0; round < rounds; round++)
    said.push(...(await recordUntilKilled(places, `r${round}`, random)));
  const looks = [
    ...(places.file === null ? [] : [await lookAtFile(places.file)]),
    ...(places.database === null ? [] : [await lookAtDatabase(places.database)]),
  ];
  for (const { faults } of looks) {
    if (faults.length > 0) throw new Error(`the chain is broken: ${JSON.stringify(faults.slice(0, 5))}`);
  }
  const lost = said.filter((task) => !looks.some(({ tasks }) => tasks.has(task)));
  if (lost.length > 0)
    throw new Error(`${lost.length} acknowledged records are gone, such as ${lost[0] ?? ''}`);
  return { acknowledged: said.length };
}
