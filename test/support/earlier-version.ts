/** The program as it was some commits ago, built beside this one. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

function run(program: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr + stdout}`);
  return stdout.trim();
}

/**
 * The commit to compare with: that of `EARLIER_COMMIT`, or else the last one before what gateways share was changed
 * (`src/state`). Null where there is no history, as in an archive or a shallow clone.
 */
export function earlierCommit(): string | null {
  const named = process.env['EARLIER_COMMIT'];
  try {
    const changed = run('git', ['rev-list', '-1', 'HEAD', '--', 'src/state'], root);
    return run('git', ['rev-parse', '--verify', `${named ?? `${changed}~1`}^{commit}`], root);
  } catch (error) {
    if (named !== undefined) throw error;
    return null;
  }
}

/** Builds a commit. `program` is for `node`. */
export function buildEarlier(commit: string): { program: string; close(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-earlier-'));
  run('sh', ['-c', `git archive ${commit} | tar -x -C ${folder}`], root);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], folder);
  run(process.execPath, ['scripts/after-build.mjs'], folder);
  const close = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
  return { program: join(folder, 'dist/cli/main.js'), close };
}
