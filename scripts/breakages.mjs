/**
 * Sees that the field tests notice: makes each breakage of scripts/breakage-list.mjs in a copy of the tree, one at a time,
 * runs the tests that must notice, and prints which went red. Never touches the working tree.
 *
 *   node scripts/breakages.mjs            all of them; exit code 1 when one stays green or its text is gone
 *   node scripts/breakages.mjs H26 relay  only those whose case, file or description holds one of these words
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { breakages } from './breakage-list.mjs';

const root = resolve(import.meta.dirname, '..');
const copied = ['src', 'test', 'config', 'package.json', 'tsconfig.json', 'vitest.config.ts'];
/** A test that hangs has noticed too; far more than any of them takes. */
const guardMs = 180_000;

/** A copy of what the tests need, with the dependencies of the original. */
function copyTree() {
  const copy = mkdtempSync(join(tmpdir(), 'turnpike-breakages-'));
  for (const name of copied) cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Runs these field tests; titles limits them to one case. Gives the titles that failed, and how many passed. */
function runTests(copy, tests, title) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const files = tests.map((name) => `test/field/${name}.test.ts`);
  const filter = title === undefined ? [] : ['-t', title, '--bail', '1'];
  const args = [
    'run',
    '--project',
    'field',
    ...files,
    ...filter,
    '--reporter=json',
    `--outputFile=${report}`,
  ];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const env = { ...process.env, VITEST_REPORT_DIR: undefined };
  const ran = spawnSync(process.execPath, [vitest, ...args], { cwd: copy, env, timeout: guardMs });
  if (ran.error?.code === 'ETIMEDOUT') return { failed: ['(hung)'], passed: 0 };
  const { testResults, numPassedTests } = JSON.parse(readFileSync(report, 'utf8'));
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'failed')
    .map(({ fullName }) => fullName);
  return { failed, passed: numPassedTests };
}

/** The text of the file with the breakage in it; throws where the list no longer fits the code. */
function broken(text, { what, file, find, put }) {
  const count = text.split(find).length - 1;
  if (count === 1) return text.replace(find, () => put);
  const times = count === 0 ? 'is gone' : `stands ${count} times`;
  throw new Error(`${what}: the text to break ${times} in ${file}; mend scripts/breakage-list.mjs:\n${find}`);
}

/** Breaks, runs, mends; gives the title of the test that noticed, or what is wrong. */
function tryBreakage(copy, breakage) {
  const path = join(copy, breakage.file);
  const text = readFileSync(path, 'utf8');
  try {
    writeFileSync(path, broken(text, breakage));
    const { failed, passed } = runTests(copy, [breakage.test], breakage.case);
    if (failed.length > 0) return { isRed: true, says: failed[0] };
    return { isRed: false, says: `STAYS GREEN (${passed} tests of ${breakage.test} passed)` };
  } catch (error) {
    return { isRed: false, says: error.message };
  } finally {
    writeFileSync(path, text);
  }
}

function chosen(words) {
  const isChosen = (breakage) => words.some((word) => JSON.stringify(breakage).includes(word));
  return words.length === 0 ? breakages : breakages.filter(isChosen);
}

function main() {
  const list = chosen(process.argv.slice(2));
  const copy = copyTree();
  try {
    const before = runTests(copy, [...new Set(list.map(({ test }) => test))]);
    if (before.failed.length > 0) {
      console.error(`breakages: red before anything was broken:\n${before.failed.join('\n')}`);
      return 1;
    }
    console.log(`whole: ${before.passed} tests pass`);
    let greens = 0;
    for (const breakage of list) {
      const { isRed, says } = tryBreakage(copy, breakage);
      if (!isRed) greens++;
      console.log(`${isRed ? 'red  ' : 'GREEN'} ${breakage.what}\n      ${breakage.file} → ${says}`);
    }
    console.log(`${list.length - greens} of ${list.length} breakages were noticed`);
    return greens === 0 ? 0 : 1;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

process.exitCode = main();
