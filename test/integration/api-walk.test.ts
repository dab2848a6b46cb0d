/** The walk of docs/api.md by `curl`, as it stands there, on both engines. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokens } from '../support/admin.js';
import { differences, examplesIn, runExamples } from '../support/doc-examples.js';
import { startPostgres, type RealPostgres } from '../support/real-postgres.js';
import { createStage } from '../support/stage.js';
import { startVaulted, vaultPlace } from '../support/vaulted.js';

const stage = createStage();
let postgres: RealPostgres;
beforeAll(async () => (postgres = await startPostgres()));
afterAll(() => postgres.close());

const engines = ['sqlite', 'postgres'] as const;

async function storageOf(engine: (typeof engines)[number]): Promise<Record<string, unknown> | null> {
  return engine === 'sqlite' ? null : { kind: 'postgres', url: postgres.url(await postgres.empty()) };
}

describe('K3 K4 docs/api.md', () => {
  it.each(engines)('works as it stands, on %s', async (engine) => {
    const place = stage.keep(vaultPlace(await storageOf(engine)));
    const { gateway } = stage.keep(await startVaulted(place));
    const ran = await runExamples(examplesIn('docs/api.md'), {
      admin: `http://127.0.0.1:${gateway.adminPort}`,
      env: { ADMIN_TOKEN: tokens.admin, CRAWLER_TOKEN: tokens.tokens },
    });
    expect(ran.length).toBeGreaterThan(15);
    for (const { script, expected, answer, printed } of ran)
      expect(expected === null ? [] : differences(expected, answer), `${script}\n${printed}`).toEqual([]);
  });
});
