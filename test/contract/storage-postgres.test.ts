import { afterAll, afterEach, beforeAll, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { openDatabase } from '../../src/storage/open-database.js';
import type { Database } from '../../src/storage/ports.js';
import { passPostgresMs, startPostgres, type RealPostgres } from '../support/real-postgres.js';
import { credentialsContract } from './storage-credentials.js';
import { keysContract } from './storage-keys.js';
import { tokensContract } from './storage-tokens.js';
import type { UnderTest } from './under-test.js';

vi.setConfig({ testTimeout: 60_000 });
let server: RealPostgres;
let database = '';
const open: Database[] = [];

beforeAll(async () => {
  server = await startPostgres();
});
afterEach(() => Promise.all(open.splice(0).map((store) => store.close())));
afterAll(() => server.close());

async function make(): Promise<UnderTest<Database>> {
  const name = (database = await server.withTables());
  const store = await openDatabase(server.settings(name), { clock: systemClock });
  open.push(store);
  return { store, passMs: (ms) => passPostgresMs(server, name, ms) };
}

credentialsContract('postgres', make);
tokensContract('postgres', make);
keysContract('postgres', make, (sql) => server.ask(database, sql));
