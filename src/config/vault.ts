/** From `vault` as written to where the root key comes from; and what is wrong with it. The key itself is not read here. */
import type { VaultConfig } from './config.js';
import type { Finding } from './problems.js';
import { textOf } from './reading.js';
import type { Resources } from './resources.js';
import type { Settings } from './schema.js';
import { vaultKeyVariable } from './schema-vault.js';

const keyPath = ['vault', 'key'];

/** Everything that is wrong with `vault` beyond the kinds of its values. */
export function checkVault(
  vault: Readonly<Record<string, unknown>>,
  resources: Resources,
): { readonly problems: Finding[]; readonly warnings: Finding[] } {
  const key = textOf(vault['key']);
  const problem = (path: readonly string[], message: string) => ({
    ...{ problems: [{ path, message }], warnings: [] },
  });
  if (key === null || key === '') return { problems: [], warnings: [] };
  if (vault['command'] !== undefined)
    return problem(['vault', 'command'], 'one of key and command is enough');
  if (key.startsWith('env:')) {
    const resolved = resources.secret(key);
    return resolved.kind === 'problem' ? problem(keyPath, resolved.message) : { problems: [], warnings: [] };
  }
  if (!key.startsWith('file:') || key === 'file:')
    return problem(keyPath, 'expected file:PATH or env:NAME: a key that stands in the configuration is none');
  const trouble = resources.listTrouble(key.slice('file:'.length));
  const message = `${trouble ?? ''}: the vault will be sealed. turnpike vault init makes a key`;
  return { problems: [], warnings: trouble === null ? [] : [{ path: keyPath, message }] };
}

/** Where the root key is, of settings that {@link checkVault} found nothing wrong with; null: there is no vault. */
export function vaultOf({ key, command }: Settings['vault'], resources: Resources): VaultConfig | null {
  if (command !== undefined) return { kind: 'command', argv: command };
  if (key?.startsWith('file:') === true)
    return { kind: 'file', path: resources.path(key.slice('file:'.length)) };
  const name = key?.slice('env:'.length) ?? vaultKeyVariable;
  const resolved = resources.secret(`env:${name}`);
  return resolved.kind === 'problem' ? null : { kind: 'env', name, secret: resolved.secret };
}

/** A root key's place as a flag names it, or what is wrong with it; the value is not repeated, since it may be a key. */
export function keyPlaceOf(given: string, resources: Resources): VaultConfig | string {
  if (given.startsWith('[')) {
    const argv = wordsIn(given);
    return argv === null ? 'expected a command such as ["kms","read"]' : { kind: 'command', argv };
  }
  if (given.startsWith('env:')) {
    const resolved = resources.secret(given);
    if (resolved.kind === 'problem') return resolved.message;
    return { kind: 'env', name: given.slice('env:'.length), secret: resolved.secret };
  }
  const path = given.startsWith('file:') ? given.slice('file:'.length) : '';
  if (path === '') return 'expected file:PATH, env:NAME, or a command such as ["kms","read"]';
  return { kind: 'file', path: resources.path(path) };
}

function wordsIn(json: string): string[] | null {
  try {
    const words: unknown = JSON.parse(json);
    const isList = Array.isArray(words) && words.length > 0;
    return isList && words.every((word) => typeof word === 'string') ? words : null;
  } catch {
    return null;
  }
}
