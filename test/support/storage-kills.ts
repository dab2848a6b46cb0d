/** Kills processes that write to one SQLite file, again and again, and looks at the file each time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/core/clock.js';
import { seededRandom } from '../../src/core/random.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { damageOf, killedWhileWriting } from './storage-processes.js';

/** What was found. */
export interface Killed {
  readonly acknowledged: number;
  readonly damage: readonly string[];
}

/** Does so many rounds. */
export async function killWriters(rounds: number, seed: number): Promise<Killed> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-kills-'));
  const settings = { kind: 'sqlite', path: join(folder, 'records.db'), callMs: 20_000 } as const;
  const random = seededRandom(seed);
  let acknowledged = 0;
  const damage: string[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const told = await killedWhileWriting(settings, `w${round}`, random.below(120));
      acknowledged += told.length;
      const db = await openDatabase(settings, { clock: systemClock });
      damage.push(...(await damageOf(settings.path, db, told)).map((what) => `round ${round}: ${what}`));
      await db.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { acknowledged, damage };
}
