import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { openConnection } from '../../src/storage/sqlite-connection.js';
import { newCredential } from '../contract/storage-credentials.js';
import { createStage } from '../support/stage.js';
import { killWriters } from '../support/storage-kills.js';
import { onFullDisk, overlapsIn, raceFor } from '../support/storage-processes.js';
import { eventually } from '../support/wait.js';

// A guard against hanging: these start processes, on a machine that has much else to do.
vi.setConfig({ testTimeout: 120_000 });
const stage = createStage();
const newFolder = () => mkdtempSync(join(tmpdir(), 'turnpike-storage-'));
const settings = (path: string, callMs = 20_000) => ({ kind: 'sqlite', path, callMs }) as const;

async function opened(path: string, callMs?: number) {
  const db = await openDatabase(settings(path, callMs), { clock: systemClock });
  stage.keep(db);
  return db;
}
const raw = (path: string) => openConnection({ path, role: 'reader', busyMs: 100 });

describe('K15 SQLite', () => {
  it('has files for their owner alone, the copy, too', async () => {
    const folder = newFolder();
    const path = join(folder, 'new', 'records.db');
    const db = await opened(path);
    await db.credentials.insert([newCredential('a')]);
    await db.backup(join(folder, 'copy.db'));
    await expect(db.backup(join(folder, 'copy.db'))).rejects.toThrow(/is there already/);
    for (const name of readdirSync(join(folder, 'new')))
      expect(statSync(join(folder, 'new', name)).mode & 0o077, name).toBe(0);
    expect(statSync(join(folder, 'copy.db')).mode & 0o077).toBe(0);
    const copy = await opened(join(folder, 'copy.db'));
    expect((await copy.credentials.find('a'))?.key).toBe('a');
    chmodSync(path, 0o644);
    await opened(path);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it('refuses a file that is not its own, and says what to do', async () => {
    const folder = newFolder();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('text'), 'this is not a database\n'.repeat(100));
    raw(at('other.db')).exec('create table things (a)');
    const whole = await openDatabase(settings(at('damaged.db')), { clock: systemClock });
    await whole.close();
    const bytes = readFileSync(at('damaged.db'));
    writeFileSync(at('damaged.db'), bytes.fill(0x5a, 100));
    await (await openDatabase(settings(at('newer.db')), { clock: systemClock })).close();
    raw(at('newer.db')).exec('pragma user_version = 99');
    mkdirSync(at('folder.db'));
    const why = async (path: string) => {
      const error: unknown = await openDatabase(settings(path, 500), { clock: systemClock }).catch(
        (thrown: unknown) => thrown,
      );
      return error instanceof Error && 'why' in error ? `${String(error.why)}: ${error.message}` : 'opened';
    };
    expect(await why(at('text'))).toMatch(/^not_ours: .*is no SQLite database/);
    expect(await why(at('other.db'))).toMatch(/^not_ours: .*another program/);
    expect(await why(at('damaged.db'))).toMatch(/^corrupt: .*restore a backup/);
    expect(await why(at('newer.db'))).toMatch(/^newer_schema: .*schema 99.*later one/);
    expect(await why(at('folder.db'))).toMatch(/^not_ours: .*folder/);
    expect(await why(join(at('text'), 'x.db'))).toMatch(/^no_such_place: /);
    expect(await why('/proc/turnpike/x.db')).toMatch(/^(no_such_place|not_writable): /);
  });

  it('says that another program holds the file, in time, and works again when it is free', async () => {
    const path = join(newFolder(), 'records.db');
    const db = await opened(path, 400);
    const other = raw(path);
    other.exec('begin immediate');
    await expect(db.credentials.insert([newCredential('a')])).rejects.toMatchObject({ name: 'StorageAway' });
    expect(await db.lastChange()).toBe(0);
    other.exec('rollback');
    await eventually('the file to be free', async () => {
      const told = await db.credentials.insert([newCredential('b')]).catch(() => null);
      return told?.[0] === 'inserted';
    });
    other.exec('begin exclusive');
    const error = await openDatabase(settings(join(path), 300), { clock: systemClock }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ name: 'StorageRefused', why: 'locked' });
    other.close();
  });

  it('refuses what is too much at once, and does the rest', async () => {
    const db = await opened(join(newFolder(), 'records.db'));
    const all = await Promise.allSettled(Array.from({ length: 5000 }, (_, n) => db.instances.leave(`g${n}`)));
    const refused = all.filter(({ status }) => status === 'rejected');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(1000);
    await db.check();
  });

  it('says that the disk is full, keeps what it has, and goes on when there is room', async () => {
    expect(await onFullDisk()).toEqual({
      ...{
        refused: 'StorageAway: no space is left on the disk of the database',
        kept: true,
        again: 'inserted',
      },
    });
  });

  it('K4 has one holder at a time over three processes', async () => {
    const folder = newFolder();
    const path = join(folder, 'records.db');
    const db = await opened(path);
    await db.credentials.insert([newCredential('only', { id: 'only' })]);
    const log = join(folder, 'log');
    expect(await raceFor(settings(path), { processes: 3, turns: 12, log })).toEqual([0, 0, 0]);
    const text = readFileSync(log, 'utf8');
    expect(overlapsIn(text)).toEqual([]);
    expect(text.length).toBeGreaterThan(0);
  });

  it('K8 is whole after each of 10 kills of a process that writes, with all that was acknowledged', async () => {
    const { acknowledged, damage } = await killWriters(10, 7);
    expect(damage).toEqual([]);
    expect(acknowledged).toBeGreaterThan(100);
  });

  it('is opened by many processes at once when it is new', async () => {
    const path = join(newFolder(), 'records.db');
    const all = await Promise.all(Array.from({ length: 6 }, () => opened(path)));
    await Promise.all(all.map((db, n) => db.policies.insert({ id: `${n}`, name: `p${n}`, document: {} })));
    expect(await all[0]?.policies.all()).toHaveLength(6);
  });
});
