/** The audit at full size: killed 200 times, tampered with 1,000 times. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.js';
import { crashRounds } from '../support/audit-crash.js';
import { tamperWithRows } from '../support/audit-tampering.js';
import { makeAuditedStore } from '../support/audited-store.js';

let folder = '';
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'turnpike-audit-'))));
afterAll(() => rmSync(folder, { recursive: true }));

describe('K8 the audit', () => {
  it('has lost nothing that it said was kept after 200 × kill -9', { timeout: 1_200_000 }, async () => {
    const places = { file: join(folder, 'audit.log'), database: join(folder, 'audit.db') };
    const { acknowledged } = await crashRounds(places, 200, seededRandom(200));
    expect(acknowledged).toBeGreaterThan(10_000);
  });

  it('shows each of 1,000 random tamperings with rows of the database', { timeout: 600_000 }, async () => {
    const own = mkdtempSync(join(folder, 'rows-'));
    await tamperWithRows(await makeAuditedStore(own, 40), 1000);
  });
});
