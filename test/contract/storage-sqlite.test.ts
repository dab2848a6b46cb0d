import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, vi } from 'vitest';
import { openDatabase } from '../../src/storage/open-database.js';
import { openConnection } from '../../src/storage/sqlite-connection.js';
import type { Database } from '../../src/storage/ports.js';
import { jumpingClock } from '../support/jumping-clock.js';
import { credentialsContract } from './storage-credentials.js';
import { keysContract } from './storage-keys.js';
import { tokensContract } from './storage-tokens.js';
import type { UnderTest } from './under-test.js';

vi.setConfig({ testTimeout: 60_000 });
const folder = mkdtempSync(join(tmpdir(), 'turnpike-sqlite-'));
const open: Database[] = [];
let count = 0;
const path = () => join(folder, `${count}.db`);

async function make(): Promise<UnderTest<Database>> {
  count += 1;
  const clock = jumpingClock();
  const store = await openDatabase({ kind: 'sqlite', path: path(), callMs: 20_000 }, { clock });
  open.push(store);
  return { store, passMs: (ms) => clock.jump(ms) };
}

async function alter(sql: string): Promise<void> {
  const connection = openConnection({ path: path(), role: 'reader', busyMs: 5000 });
  try {
    connection.exec(sql);
  } finally {
    connection.close();
  }
}

afterEach(() => Promise.all(open.splice(0).map((store) => store.close())));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

credentialsContract('sqlite', make);
tokensContract('sqlite', make);
keysContract('sqlite', make, alter);
