/**
 * From a file, flags and the environment to a frozen configuration, or to everything that is wrong with it.
 * The only place that reads the environment.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Secret } from '../core/secret.js';
import { advise } from './advice.js';
import { buildConfig, folderOf } from './build.js';
import type { Config, VaultConfig } from './config.js';
import { crossCheck } from './cross-checks.js';
import { readDocument } from './document.js';
import type { ReadDocument } from './document.js';
import { adminTokenVariable, override } from './overrides.js';
import type { CliOverrides } from './overrides.js';
import { parseSettings } from './parse.js';
import { formatPath } from './problems.js';
import type { Finding, Problem } from './problems.js';
import { ruleFindings } from './rules.js';
import { checkResources, createResources } from './resources.js';
import { fileTrouble } from './secrets.js';
import { keyPlaceOf } from './vault.js';

/** Where a configuration comes from. */
export interface LoadInput {
  /** The file, or null for TURNPIKE_CONFIG, or for none at all. */
  readonly file: string | null;
  readonly overrides: CliOverrides;
  /** The environment; that of the process when left out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** A configuration with what is unwise about it, or all problems of it. `file` is the one that was read. */
export type Loaded =
  | { readonly kind: 'config'; readonly config: Config; readonly warnings: readonly Problem[] }
  | { readonly kind: 'problems'; readonly problems: readonly Problem[]; readonly file: string | null };

const mostBytes = 4 * 1024 * 1024;

function readFile(file: string | null): ReadDocument {
  if (file === null) return { kind: 'tree', tree: {}, lineOf: () => null };
  const trouble = (message: string): ReadDocument => ({
    kind: 'problems',
    problems: [{ path: '', message, line: null }],
  });
  try {
    const text = readFileSync(file, 'utf8');
    return text.length > mostBytes ? trouble('the file is too long') : readDocument(text);
  } catch (error) {
    return trouble(`the file ${fileTrouble(error)}`);
  }
}

type Located = (finding: Finding) => Problem;

function locator(
  origins: ReadonlyMap<string, string>,
  lineOf: (path: Finding['path']) => number | null,
): Located {
  return ({ path, message }) => {
    for (let length = path.length; length > 0; length -= 1) {
      const origin = origins.get(formatPath(path.slice(0, length)));
      if (origin !== undefined) return { path: formatPath(path), message, line: null, origin };
    }
    return { path: formatPath(path), message, line: lineOf(path) };
  };
}

/** In the order of the file, each thing said once. */
function sorted(problems: readonly Problem[]): Problem[] {
  const once = new Map(problems.map((problem) => [`${problem.path}\n${problem.message}`, problem]));
  return [...once.values()].sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity));
}

/** What the environment says about the admin API of a gateway that runs, for the commands that talk to it. */
export function adminSurroundings(env: LoadInput['env'] = process.env): {
  readonly url: string | null;
  readonly token: Secret | null;
  readonly dataDir: string;
} {
  const given = (name: string): string | null =>
    env[name] === undefined || env[name] === '' ? null : env[name];
  const token = given(adminTokenVariable);
  return {
    url: given('TURNPIKE_ADMIN_URL'),
    token: token === null ? null : new Secret(token),
    dataDir: given('TURNPIKE_DATA_DIR') ?? './data',
  };
}

/** Where a flag says that a root key is: `file:PATH`, `env:NAME`, or a command as JSON; or what is wrong with that. */
export const keyPlace = (given: string, env: LoadInput['env'] = process.env): VaultConfig | string =>
  keyPlaceOf(given, createResources({ env, folder: process.cwd() }));

/**
 * Loads a configuration. Never throws for what is in the file, the flags or the environment; never repeats
 * a value that could be a secret.
 */
export function loadConfig(input: LoadInput): Loaded {
  const env = input.env ?? process.env;
  const named = input.file ?? env['TURNPIKE_CONFIG'] ?? '';
  const file = named === '' ? null : resolve(named);
  const document = readFile(file);
  if (document.kind === 'problems') return { kind: 'problems', problems: document.problems, file };
  const { tree, origins } = override(document.tree, input.overrides, env);
  const locate = locator(origins, document.lineOf);
  const resources = createResources({ env, folder: resolve(folderOf(file)) });
  const parsed = parseSettings(tree);
  const found = checkResources(tree, resources);
  const problems = [
    ...(parsed.kind === 'findings' ? parsed.findings : []),
    ...crossCheck(tree),
    ...found.problems,
    ...(parsed.kind === 'settings' ? ruleFindings(parsed.settings) : []),
  ];
  if (parsed.kind === 'findings' || problems.length > 0) {
    return { kind: 'problems', problems: sorted(problems.map(locate)), file };
  }
  const config = buildConfig(parsed.settings, resources, file);
  const warnings = [...found.warnings, ...advise(config)];
  return { kind: 'config', config, warnings: sorted(warnings.map(locate)) };
}
