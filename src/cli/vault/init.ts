/** `turnpike vault init`: makes a root key in a file that only its owner can read, and says what to do with it. */
import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { systemBytes } from '../../core/random.js';
import type { CommandRow } from '../commands.js';
import { exitCodes } from '../exit-codes.js';
import type { FlagValues } from '../flags.js';
import type { Output } from '../output.js';
import { startTrouble } from '../start-trouble.js';

const KEY_BYTES = 32;

const advice = (file: string): string => `${file}: a new root key, readable by its owner only. Configure it:

  vault:
    key: file:${file}

Keep a copy in a safe place that is not where the database and its backups are: with the key, a stolen backup can be
read; without it, nobody can ever open what is in the vault.`;

async function init(values: FlagValues, output: Output): Promise<number> {
  const file = resolve(String(values['file']));
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const descriptor = openSync(file, 'wx', 0o600);
    writeSync(descriptor, `${systemBytes(KEY_BYTES).toString('base64')}\n`);
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const why = isThere ? `${file} is there already: it is left as it is` : startTrouble(error);
    output.tell(`turnpike: ${why}`);
    return exitCodes.notStarted;
  }
  output.print(values['json'] === true ? JSON.stringify({ file }) : advice(file));
  return exitCodes.ok;
}

/** The command. */
export const vaultInitCommand: CommandRow = {
  name: 'vault init',
  summary: 'Make a root key in a file, and say how to configure it.',
  argument: { name: 'file' },
  flags: [{ spelling: '--json', help: 'print JSON' }],
  run: init,
};
