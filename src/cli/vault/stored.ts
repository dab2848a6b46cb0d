/** `turnpike vault rekey|verify|backup`: what is done to the store itself, whether a gateway runs on it or not. */
import { resolve } from 'node:path';
import type * as vaultTools from '../../app/vault-tools.js';
import type { Config, VaultConfig } from '../../config/config.js';
import { keyPlace, loadConfig } from '../../config/load.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import { configFlags, loadInputOf, type Flag, type FlagValues } from '../flags.js';
import { keepAlive } from '../keep-alive.js';
import type { Output } from '../output.js';
import { tellProblems } from '../report.js';
import { startTrouble } from '../start-trouble.js';

type Tools = typeof vaultTools;

const flags: readonly Flag[] = [
  ...configFlags.filter(({ spelling }) => spelling.startsWith('--config ')),
  { spelling: '--json', help: 'print JSON' },
];
const mostShown = 20;

/** Loads the configuration and does something with its store; what goes wrong is one line. */
async function withStore(
  values: FlagValues,
  output: Output,
  work: (config: Config, tools: Tools) => Promise<number>,
): Promise<number> {
  const loaded = loadConfig(loadInputOf(values));
  if (loaded.kind === 'problems') {
    tellProblems(loaded.problems, loaded.file, output);
    return exitCodes.notStarted;
  }
  const letGo = keepAlive();
  try {
    return await work(loaded.config, await import('../../app/vault-tools.js'));
  } catch (error) {
    output.tell(`turnpike: ${startTrouble(error)}`);
    return exitCodes.notStarted;
  } finally {
    letGo();
  }
}

/** Where a flag says that a root key is, or else where the configuration does. @throws what is wrong with it, for people */
function placeIn(values: FlagValues, flag: string, standard: VaultConfig | null): VaultConfig {
  const given = values[flag];
  const place = typeof given === 'string' ? keyPlace(given) : standard;
  const spelling = flag.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`);
  if (place === null) throw new Error(`--${spelling} is needed: the configuration names no root key`);
  if (typeof place === 'string') throw new Error(`--${spelling}: ${place}`);
  return place;
}

const refusals = {
  empty: 'there is no vault in this store yet',
  wrong: 'the old root key is not the one of this vault',
  same: 'the new root key is the old one',
  damaged: 'a key in the store does not open with the old root key: it is damaged',
  busy: 'keys are being changed by a gateway: try again in a minute',
} as const;

const rekey = (values: FlagValues, output: Output): Promise<number> =>
  withStore(values, output, async (config, tools) => {
    const from = placeIn(values, 'from', config.vault);
    const to = placeIn(values, 'to', null);
    const done = await tools.rekeyStore(config, { from, to });
    if (done.kind === 'refused') {
      output.tell(`turnpike: nothing was changed: ${refusals[done.why]}`);
      return exitCodes.failed;
    }
    const next =
      'Now configure the new root key on all gateways and reload them. Backups from before need the old one.';
    output.print(
      values['json'] === true
        ? JSON.stringify({ keys: done.keys })
        : `${done.keys} keys wrapped anew. ${next}`,
    );
    return exitCodes.ok;
  });

const verify = (values: FlagValues, output: Output): Promise<number> =>
  withStore(values, output, async (config, tools) => {
    let told = 0;
    const found = await tools.verifyStore(config, ({ key, version, why }) => {
      told += 1;
      if (told <= mostShown) output.tell(`${key}, version ${version}: ${why}`);
    });
    if (told > mostShown) output.tell(`and ${told - mostShown} more`);
    if (found.kind !== 'verified') {
      const why = { no_vault: refusals.empty, wrong_key: 'the root key is not the one of this vault' };
      output.tell(`turnpike: ${why[found.kind]}`);
      return exitCodes.failed;
    }
    for (const term of found.shutKeys) output.tell(`key ${term} does not open: it is damaged`);
    const sums = { secrets: found.secrets, broken: found.broken, shutKeys: found.shutKeys };
    const text = `${found.secrets} secrets, ${found.secrets - found.broken} open, ${found.broken} do not`;
    output.print(values['json'] === true ? JSON.stringify(sums) : text);
    return found.broken === 0 && found.shutKeys.length === 0 ? exitCodes.ok : exitCodes.failed;
  });

const pgDump = `This store is PostgreSQL, whose own tools make whole and consistent copies while it runs:

  pg_dump --format=custom --file=turnpike.dump "$DATABASE_URL"

and bring them back: pg_restore --clean --if-exists --no-owner --dbname="$DATABASE_URL" turnpike.dump
Secrets stay sealed in it; keep the root key elsewhere. See docs/vault.md.`;

const backup = (values: FlagValues, output: Output): Promise<number> =>
  withStore(values, output, async (config, tools) => {
    const file = resolve(String(values['file']));
    const kind = await tools.backupStore(config, file);
    if (kind === 'postgres') {
      output.tell(pgDump);
      return exitCodes.notStarted;
    }
    output.print(
      values['json'] === true ? JSON.stringify({ file }) : `${file}: a whole copy; secrets stay sealed in it`,
    );
    return exitCodes.ok;
  });

const keyForms = 'file:PATH, env:NAME, or a command as JSON: \'["kms","read"]\'';

/** The commands. */
export const vaultStoreCommands: readonly CommandRow[] = [
  {
    name: 'vault rekey',
    summary: 'Change the root key of a vault.',
    flags: [
      { spelling: '--from <source>', help: `the root key until now (default: as configured): ${keyForms}` },
      { spelling: '--to <source>', help: 'the new one, in the same forms' },
      ...flags,
    ],
    run: rekey,
  },
  {
    name: 'vault verify',
    summary: 'Open every secret in the store, and say which do not open; shows none.',
    flags,
    run: verify,
  },
  {
    name: 'vault backup',
    summary: 'Write a whole, consistent copy of the store to a file, while gateways run (SQLite).',
    argument: { name: 'file' },
    flags,
    run: backup,
  },
];
