/**
 * The last line of a CI run: adds up the JSON reports of vitest in a folder, and the steps recorded beside
 * them, and prints `N passed, N failed`. Exits non-zero when anything failed, or when nothing passed.
 *
 *   node scripts/count-tests.mjs FOLDER
 *
 * FOLDER holds `*.json` (vitest's json reporter) and `steps` (lines of `name exit-code`).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** A file that could not be loaded has no tests to fail, and counts as one failure. */
function countFile(file) {
  const statuses = file.assertionResults.map((result) => result.status);
  const passed = statuses.filter((status) => status === 'passed').length;
  const failed = statuses.filter((status) => status === 'failed').length;
  return { passed, failed: failed === 0 && file.status === 'failed' ? 1 : failed };
}

function countReports(folder) {
  const total = { passed: 0, failed: 0 };
  for (const name of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    for (const file of JSON.parse(readFileSync(join(folder, name), 'utf8')).testResults) {
      const { passed, failed } = countFile(file);
      total.passed += passed;
      total.failed += failed;
    }
  }
  return total;
}

/** Names of the steps that ended with another code than 0. */
function failedSteps(folder) {
  const path = join(folder, 'steps');
  if (!existsSync(path)) return ['no step was run'];
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith(' 0'))
    .map((line) => `step ${line.replace(' ', ' ended with ')}`);
}

function main(folder) {
  const { passed, failed } = countReports(folder);
  const steps = failedSteps(folder);
  for (const step of steps) console.log(step);
  // A failing test explains its step; a step that failed with all tests green is a failure of its own.
  const total = failed === 0 ? steps.length : failed;
  console.log(`${passed} passed, ${total} failed`);
  return total === 0 && passed > 0 ? 0 : 1;
}

process.exitCode = main(process.argv[2] ?? '.');
