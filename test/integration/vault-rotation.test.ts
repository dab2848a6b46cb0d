/** SECURITY 16 in small; `test/long/vault-rotation.test.ts` has it at full size, and on PostgreSQL, too. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { killedRotation } from '../support/killed-rotation.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-rotation-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('K1 keys rotate while the rotating process is killed', () => {
  it('and no use fails, and nothing stays behind', async () => {
    const storage = { kind: 'sqlite', path: join(folder, 'used.db'), callMs: 10_000 } as const;
    const figures = await killedRotation({
      ...{ storage, connect: () => openDatabase(storage, { clock: systemClock }) },
      ...{ secrets: 1000, kills: 3, usesPerSecond: 50, reencrypt: false, seed: 7 },
    });
    expect(figures).toMatchObject({
      failures: [],
      wrong: 0,
      complaints: '',
      under: { [figures.newest]: 1000 },
    });
    expect(figures.newest).toBeGreaterThan(2);
    expect(figures.uses).toBeGreaterThan(50);
  });
});
