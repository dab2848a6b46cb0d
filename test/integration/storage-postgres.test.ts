import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { StorageAway, type Database } from '../../src/storage/ports.js';
import type { PostgresSettings } from '../../src/storage/postgres.js';
import { auditRow } from '../contract/storage-keys.js';
import { newCredential } from '../contract/storage-credentials.js';
import { startPostgres, type RealPostgres } from '../support/real-postgres.js';
import { createStage } from '../support/stage.js';
import { overlapsIn, raceFor } from '../support/storage-processes.js';
import { eventually, waitFor } from '../support/wait.js';

// A guard against hanging: these start processes, on a machine that has much else to do.
vi.setConfig({ testTimeout: 120_000 });
const stage = createStage();
let server: RealPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.close());

async function opened(settings: PostgresSettings): Promise<Database> {
  const db = await openDatabase(settings, { clock: systemClock });
  stage.keep(db);
  return db;
}

describe('K15 PostgreSQL', () => {
  it('gets its tables from one of many that start at once', async () => {
    const settings = server.settings(await server.empty(), { connections: 2 });
    const all = await Promise.all(Array.from({ length: 6 }, () => opened(settings)));
    await Promise.all(all.map((db, n) => db.policies.insert({ id: `${n}`, name: `p${n}`, document: {} })));
    expect(await all[0]?.policies.all()).toHaveLength(6);
  });

  it('refuses a database that is not its own, and says what to do', async () => {
    const why = async (settings: PostgresSettings) => {
      const error: unknown = await opened(settings).catch((thrown: unknown) => thrown);
      return error instanceof Error && 'why' in error ? `${String(error.why)}: ${error.message}` : 'opened';
    };
    const other = await server.empty();
    await server.ask(other, 'create table tokens (a int)');
    expect(await why(server.settings(other))).toMatch(/^not_ours: .*of its own/);
    const newer = await server.withTables();
    await server.ask(newer, 'update turnpike_schema set version = 99');
    expect(await why(server.settings(newer))).toMatch(/^newer_schema: .*schema 99.*later one/);
    expect(await why(server.settings('none_such'))).toMatch(/^login_refused: .*no such database/);
    expect(await why(server.settings(newer, { username: 'nobody' }))).toMatch(/^login_refused: /);
    const poor = await server.empty();
    await server.ask(
      poor,
      'drop role if exists poor; create role poor login; revoke create on schema public from public',
    );
    expect(await why(server.settings(poor, { username: 'poor' }))).toMatch(/^not_writable: .*grant CREATE/);
  });

  it('K4 has one holder at a time over three processes', async () => {
    const settings = server.settings(await server.withTables());
    const db = await opened(settings);
    await db.credentials.insert([newCredential('only', { id: 'only' })]);
    const log = join(mkdtempSync(join(tmpdir(), 'turnpike-race-')), 'log');
    expect(await raceFor(settings, { processes: 3, turns: 12, log })).toEqual([0, 0, 0]);
    const text = readFileSync(log, 'utf8');
    expect(overlapsIn(text)).toEqual([]);
    expect(text.length).toBeGreaterThan(0);
  });

  it('rejects in time when the server says nothing, and goes on without it', async () => {
    const settings = server.settings(await server.withTables(), { callMs: 600 });
    const db = await opened(settings);
    await db.credentials.insert([newCredential('a')]);
    const hold = server.ask(settings.database, `begin; lock table policies; select pg_sleep(3); commit`);
    const refused: unknown[] = [];
    await eventually('a call to wait in vain', async () => {
      await db.policies.all().catch((error: unknown) => refused.push(error));
      return refused.length > 0;
    });
    expect(refused[0]).toBeInstanceOf(StorageAway);
    expect((await db.credentials.find('a'))?.key).toBe('a');
    await hold;
    expect(await db.policies.all()).toEqual([]);
  });

  it('K15 loses nothing that was acknowledged when it is killed, and works again by itself', async () => {
    const db = await opened(server.settings(await server.withTables(), { callMs: 5000 }));
    const kept: string[] = [];
    const errors: unknown[] = [];
    let isOver = false;
    const writer = async (lane: number) => {
      for (let n = 1; !isOver; n++) {
        try {
          await db.credentials.insert([newCredential(`${lane}-${n}`)]);
          await db.audit.append([auditRow(`c${lane}`, n)]);
          kept.push(`${lane}-${n}`);
        } catch (error) {
          errors.push(error);
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
    };
    const writers = Array.from({ length: 6 }, (_, lane) => writer(lane));
    for (let round = 0; round < 3; round++) {
      const before = kept.length;
      await waitFor('writes', () => kept.length > before + 30);
      const failed = errors.length;
      await server.kill();
      await waitFor('calls to fail', () => errors.length > failed + 6);
      await server.startAgain();
      const away = kept.length;
      await waitFor('calls to be answered again', () => kept.length > away + 6);
    }
    isOver = true;
    await Promise.all(writers);
    expect(errors.filter((error) => !(error instanceof StorageAway))).toEqual([]);
    const found = new Set((await db.credentials.rows(kept)).map(({ key }) => key));
    expect(kept.filter((key) => !found.has(key))).toEqual([]);
    for (const lane of [0, 1, 2, 3, 4, 5]) {
      const places = new Set((await db.audit.read(`c${lane}`, 0, 100_000)).map(({ n }) => `${lane}-${n}`));
      expect(kept.filter((key) => key.startsWith(`${lane}-`) && !places.has(key))).toEqual([]);
    }
  });

  it('opens while the server is away, and works once it is there', async () => {
    const settings = server.settings(await server.empty(), { callMs: 3000 });
    await server.kill();
    const db = await opened(settings);
    await expect(db.check()).rejects.toBeInstanceOf(StorageAway);
    await server.startAgain();
    await db.check();
    expect(await db.policies.insert({ id: '1', name: 'p', document: {} })).toBe('inserted');
  });
});
