import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { crashRounds } from '../support/audit-crash.js';

let folder = '';
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'turnpike-crash-'))));
afterAll(() => rmSync(folder, { recursive: true }));

describe('K8 a process that is killed while it records', () => {
  const both = { file: 'both.log', database: 'both.db' };
  it.each([
    ['file', { file: 'alone.log', database: null }],
    ['database', { file: null, database: 'alone.db' }],
    ['database and file', both],
  ])('has lost nothing that it was told was kept: %s', { timeout: 60_000 }, async (_, names) => {
    const places = {
      file: names.file === null ? null : join(folder, names.file),
      database: names.database === null ? null : join(folder, names.database),
    };
    const { acknowledged } = await crashRounds(places, 3, seededRandom(25));
    expect(acknowledged).toBeGreaterThan(30);
  });
});
