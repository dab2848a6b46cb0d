/** The same as `integration/reload-process.test.ts` with the hundred downloads of SECURITY 7. */
import { expect, it } from 'vitest';
import { reloadUnderLoad } from '../support/reload-under-load.js';

it('kill -HUP under a hundred long downloads cuts none', async () => {
  const seen = await reloadUnderLoad(100);
  expect(seen.broken).toEqual([]);
  expect(seen.complete).toBe(100);
  expect(seen.exitCode).toBe(0);
});
