/** 200 kills of a process that writes to SQLite; in short in test/integration/storage-sqlite.test.ts. */
import { expect, it, vi } from 'vitest';
import { killWriters } from '../support/storage-kills.js';

vi.setConfig({ testTimeout: 1_800_000 });
const ROUNDS = Number(process.env['ROUNDS'] ?? 200);

it(`K8 SQLite is whole after each of ${ROUNDS} kills, with all that was acknowledged`, async () => {
  const { acknowledged, damage } = await killWriters(ROUNDS, 11);
  process.stdout.write(
    `storage: ${ROUNDS} kills, ${acknowledged} acknowledged writes, ${damage.length} faults\n`,
  );
  expect(damage).toEqual([]);
  expect(acknowledged).toBeGreaterThan(ROUNDS * 10);
});
