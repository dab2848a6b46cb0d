/** The thread that holds one connection to a SQLite file: does what it is told, in its order, and tells what came of it. */
import { parentPort, workerData } from 'node:worker_threads';
import { StorageRefused } from './executor.js';
import { failedOf, openConnection, type SqliteConnection } from './sqlite-connection.js';
import type { FromThread, Outcome, ThreadSetup, ToThread } from './sqlite-messages.js';

function opened(port: NonNullable<typeof parentPort>): SqliteConnection | null {
  const tell = (message: FromThread) => port.postMessage(message);
  try {
    const connection = openConnection(workerData as ThreadSetup);
    tell({ kind: 'opened' });
    return connection;
  } catch (error) {
    if (!(error instanceof StorageRefused)) throw error;
    tell({ kind: 'refused', why: error.why, message: error.message });
    return null;
  }
}

function outcomesOf(connection: SqliteConnection, message: ToThread): readonly Outcome[] {
  if (message.kind === 'units') return connection.units(message.units);
  try {
    if (message.kind === 'read') {
      const rows = connection.read(message.statement);
      return [{ kind: 'done', results: [{ rows, count: rows.length }] }];
    }
    if (message.kind === 'backup') connection.backup(message.path);
    else connection.close();
    return [{ kind: 'done', results: [] }];
  } catch (error) {
    return [error instanceof StorageRefused ? { ...failedOf(error), code: error.why } : failedOf(error)];
  }
}

function work(port: NonNullable<typeof parentPort>): void {
  const connection = opened(port);
  if (connection === null) return;
  port.on('message', (message: ToThread) => {
    const answer: FromThread = { kind: 'answer', id: message.id, outcomes: outcomesOf(connection, message) };
    port.postMessage(answer);
    if (message.kind === 'close') port.close();
  });
}

if (parentPort !== null) work(parentPort);
