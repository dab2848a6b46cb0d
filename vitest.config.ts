/**
 * Which tests make up which project. Two workers at most, since integration tests start real processes
 * and measure real time; the projects that only compute come first.
 */
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const unitFolders = [
  'core',
  'http1',
  'protocol',
  'facts',
  'upstreams',
  'routing',
  'request',
  'outcome',
  'checkup',
  'config',
  'exits',
  'state',
  'storage',
  'open',
  'vault',
  'gateway',
  'telemetry',
  'audit',
  'credentials',
  'alerts',
  'access',
  'admin',
  'client',
  'cli',
  'app',
];

/** One project: its name, its files, its place in the order, its time limits. */
function project(name: string, include: string[], groupOrder: number, testTimeoutMs = 20_000) {
  return {
    extends: true as const,
    test: {
      name,
      include,
      testTimeout: testTimeoutMs,
      hookTimeout: Math.max(60_000, testTimeoutMs),
      sequence: { groupOrder },
    },
  };
}

/** Set by .ci/run: a JSON report of every run goes there, one file each, and is counted at the end. */
const reportDir = process.env['VITEST_REPORT_DIR'];

export default defineConfig({
  test: {
    reporters:
      reportDir === undefined
        ? ['default']
        : ['default', ['json', { outputFile: join(reportDir, `vitest-${process.pid}.json`) }]],
    maxWorkers: 2,
    pool: 'forks',
    restoreMocks: true,
    projects: [
      project('tidy', ['test/tidy.test.ts', 'test/docs.test.ts'], 0, 60_000),
      project('unit', [`test/{${unitFolders.join(',')}}/**/*.test.ts`, 'test/app.test.ts'], 1),
      project('integration', ['test/{integration,contract,fuzz}/**/*.test.ts'], 2),
      project('field', ['test/field/**/*.test.ts'], 3),
      project('long', ['test/long/**/*.test.ts'], 4, 300_000),
    ],
    coverage: { provider: 'v8', include: ['src/**/*.ts'] },
  },
});
