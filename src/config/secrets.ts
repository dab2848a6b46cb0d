/**
 * From a reference to a value: `env:NAME`, `file:path`, or the value itself. Resolved once, at load, into `Secret`.
 * Nothing here ever says what a value was; it says which name or path gave none.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Secret } from '../core/secret.js';

/** What came of resolving a reference. `literal`: the value stood in the file itself. */
export type Resolved =
  | { readonly kind: 'secret'; readonly secret: Secret; readonly literal: boolean }
  | { readonly kind: 'problem'; readonly message: string };

/** Where references are looked up. */
export interface SecretSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder that paths are relative to. */
  readonly folder: string;
}

const problem = (message: string): Resolved => ({ kind: 'problem', message });

const mostBytes = 64 * 1024;

function fromEnvironment(name: string, env: SecretSources['env']): Resolved {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name))
    return problem('expected the name of a variable after env:');
  const value = env[name];
  if (value === undefined) return problem(`the environment variable ${name} is not set`);
  if (value === '') return problem(`the environment variable ${name} is empty`);
  return { kind: 'secret', secret: new Secret(value), literal: false };
}

/** Why a file could not be read, for people; holds the code of the system, not its message. */
export function fileTrouble(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  const words: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist',
    EACCES: 'may not be read by this user',
    EPERM: 'may not be read by this user',
    EISDIR: 'is a folder',
    ENOTDIR: 'has a file in its path where a folder should be',
  };
  return words[code] ?? `can not be read (${code})`;
}

function fromFile(path: string, folder: string): Resolved {
  if (path === '') return problem('expected a path after file:');
  const full = resolve(folder, path);
  try {
    const value = readFileSync(full, 'utf8').replace(/\r?\n$/, '');
    if (value === '') return problem(`the file ${full} is empty`);
    if (value.length > mostBytes) return problem(`the file ${full} is too long for a secret`);
    return { kind: 'secret', secret: new Secret(value), literal: false };
  } catch (error) {
    return problem(`the file ${full} ${fileTrouble(error)}`);
  }
}

/** Resolves one reference. Of the vault come logins of upstreams only, and not from here. */
export function resolveSecret(reference: string, sources: SecretSources): Resolved {
  if (reference.startsWith('env:')) return fromEnvironment(reference.slice(4), sources.env);
  if (reference.startsWith('file:')) return fromFile(reference.slice(5), sources.folder);
  if (reference.startsWith('vault:'))
    return problem(
      'vault: is for credential of upstreams only; here env:NAME, file:path or the value are expected',
    );
  return { kind: 'secret', secret: new Secret(reference), literal: true };
}
