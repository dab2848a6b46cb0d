import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { systemClock } from '../../src/core/clock.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { vaultContract } from '../contract/vault.js';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-vault-sqlite-'));
vaultContract('sqlite', {
  fresh: async () => {
    const path = join(folder, `${randomBytes(4).toString('hex')}.db`);
    return () => openDatabase({ kind: 'sqlite', path, callMs: 10_000 }, { clock: systemClock });
  },
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
