/**
 * A process that records as fast as it can, and says of each record that it has: for tests that kill it.
 * Arguments: the file of the audit and that of the database (`-`: none), and the first part of its tasks' names.
 */
import { writeSync } from 'node:fs';
import process from 'node:process';
import { AuditFile } from '../../dist/audit/file.js';
import { openAuditLog } from '../../dist/audit/log.js';
import { AuditTable } from '../../dist/audit/table.js';
import { systemClock } from '../../dist/core/clock.js';
import { systemRandom } from '../../dist/core/random.js';
import { openDatabase } from '../../dist/storage/open-database.js';

const [file, database, name] = process.argv.slice(2);
const AT_ONCE = 20;

const sinks = [];
if (database !== '-') {
  const settings = { kind: 'sqlite', path: database, callMs: 5000 };
  sinks.push(new AuditTable((await openDatabase(settings, { clock: systemClock })).audit));
}
if (file !== '-') sinks.push(new AuditFile(file));

const audit = openAuditLog({
  ...{ sinks, key: () => Buffer.alloc(32, 7), clock: systemClock, random: systemRandom },
  emit: () => undefined,
});

/** Not through a stream: what is said must be out before the next record. A full pipe is tried again. */
function say(text) {
  for (;;) {
    try {
      writeSync(1, text);
      return;
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

let tasks = 0;
async function records() {
  for (;;) {
    const task = `${name}-${tasks++}`;
    await audit.record({ action: 'token.redeem', actor: 'crawler', task, outcome: 'ok' });
    say(`${task}\n`);
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, records));
