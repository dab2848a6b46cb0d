/** SECURITY 16 at its full size: 10,000 secrets under 200 uses a second, and 50 × kill -9 at random points of the rotating process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { openDatabase, type StorageSettings } from '../../src/storage/open-database.js';
import { killedRotation } from '../support/killed-rotation.js';
import { startPostgres } from '../support/real-postgres.js';
import { tell } from '../support/process-figures.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-rotation-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function rotated(
  storage: StorageSettings,
  given: Readonly<Record<string, unknown>>,
  reencrypt: boolean,
) {
  const figures = await killedRotation({
    ...{ storage: given, connect: () => openDatabase(storage, { clock: systemClock }) },
    ...{ secrets: 10_000, kills: 50, usesPerSecond: 200, reencrypt, seed: 16 },
  });
  const { failures, under, complaints, ...shown } = figures;
  tell(`rotation over ${storage.kind}, ${reencrypt ? 'sealed anew' : 'wrapped anew'}`, {
    ...{ ...shown, failures: failures.length },
  });
  expect({ failures, complaints, under, wrong: figures.wrong }).toEqual({
    ...{ failures: [], complaints: '', wrong: 0 },
    under: { [figures.newest]: 10_000 },
  });
}

describe('K1 keys rotate while the rotating process is killed', () => {
  it.each([false, true])('over SQLite; sealed anew: %s', async (reencrypt) => {
    const storage = { kind: 'sqlite', path: join(folder, `${reencrypt}.db`), callMs: 10_000 } as const;
    await rotated(storage, storage, reencrypt);
  });

  it('over PostgreSQL', async () => {
    const server = await startPostgres();
    try {
      const settings = server.settings(await server.withTables());
      const given = { ...settings, password: settings.password?.reveal() };
      await rotated(settings, given, false);
    } finally {
      await server.close();
    }
  });
});
