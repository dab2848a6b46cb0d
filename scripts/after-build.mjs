/**
 * What the compiler leaves undone in dist/: copies the files beside the sources that are not TypeScript (Lua
 * scripts, SQL migrations, the dashboard's page), removes what has no source any more, and makes the command
 * executable. Stale files go one by one, and not with all of dist/ before the build, so that a gateway that
 * runs from dist/ at the time is not pulled from under its own lazily loaded parts.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const asset = /\.(lua|sql|html|css|svg|ico|png|woff2|yaml|json|js)$/;
const compiled = /(\.d\.ts|\.js)(\.map)?$/;

function filesUnder(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => statSync(join(folder, name)).isFile());
}

function copyAssets() {
  for (const name of filesUnder('src').filter((name) => asset.test(name))) {
    mkdirSync(dirname(join('dist', name)), { recursive: true });
    copyFileSync(join('src', name), join('dist', name));
  }
}

function removeStale() {
  for (const name of filesUnder('dist')) {
    const sources = [name, name.replace(compiled, '.ts')];
    if (!sources.some((source) => existsSync(join('src', source)))) rmSync(join('dist', name));
  }
}

copyAssets();
removeStale();
const command = 'dist/cli/main.js';
if (existsSync(command)) chmodSync(command, 0o755);
