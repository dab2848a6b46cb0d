/**
 * Flags and variables laid over the file's tree, before anything is checked: they are checked like the file,
 * and a problem says which flag or variable it came from. Flags win over variables, variables over the file.
 */
import { resolve } from 'node:path';
import type { Tree } from './document.js';
import { formatPath } from './problems.js';
import type { Path } from './problems.js';

/** What flags of the command line set; paths relative to the working directory. */
export interface CliOverrides {
  readonly listen?: string;
  readonly admin?: string;
  /** Files, added to the pool `default`. */
  readonly upstreams?: readonly string[];
  /** Added to `targets.allow`. */
  readonly allowTargets?: readonly string[];
  readonly logLevel?: string;
  readonly logFile?: string;
  /** Folder for judged answers. */
  readonly capture?: string;
  /** Adds a client whose password is in TURNPIKE_CLIENT_PASSWORD. */
  readonly client?: string;
}

/** Variables that set something, with what they set. */
export const environmentOverrides: readonly {
  readonly variable: string;
  readonly path: Path;
  readonly help: string;
}[] = [
  { variable: 'TURNPIKE_LISTEN', path: ['listen', 'proxy'], help: 'address of the proxy listener' },
  {
    variable: 'TURNPIKE_ADMIN_LISTEN',
    path: ['listen', 'admin'],
    help: 'address of the admin listener, or off',
  },
  { variable: 'TURNPIKE_LOG_LEVEL', path: ['log', 'level'], help: 'least level that is logged' },
  { variable: 'TURNPIKE_CLUSTER_INDEX', path: ['cluster', 'index'], help: 'number of this gateway, from 0' },
  { variable: 'TURNPIKE_CLUSTER_COUNT', path: ['cluster', 'count'], help: 'how many gateways there are' },
  { variable: 'TURNPIKE_DATA_DIR', path: ['data_dir'], help: 'folder for what outlives the process' },
];

/** Adds a token for the admin API, named `environment`, that may do everything. */
export const adminTokenVariable = 'TURNPIKE_ADMIN_TOKEN';

/** A tree with its overrides, and from where each came. */
export interface Overridden {
  readonly tree: Tree;
  /** By path, such as `listen.proxy` → `--listen`. */
  readonly origins: ReadonlyMap<string, string>;
}

function isMap(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A copy with `path` changed by `change`; unchanged where something other than a map is in the way. */
function changed(tree: Tree, path: Path, change: (old: unknown) => unknown): Tree {
  const [key = '', ...rest] = path.map(String);
  if (rest.length === 0) return { ...tree, [key]: change(tree[key]) };
  const inner = tree[key] ?? {};
  return isMap(inner) ? { ...tree, [key]: changed(inner, rest, change) } : tree;
}

const appended =
  (items: readonly unknown[]) =>
  (old: unknown): unknown[] => {
    const before: unknown[] = Array.isArray(old) ? old : old === undefined ? [] : [old];
    return [...before, ...items];
  };

const lengthAt = (tree: Tree, path: Path): number => {
  let value: unknown = tree;
  for (const step of path) value = isMap(value) ? value[step] : undefined;
  if (Array.isArray(value)) return value.length;
  return value === undefined ? 0 : 1;
};

class Layers {
  readonly origins = new Map<string, string>();

  constructor(public tree: Tree) {}

  set(path: Path, value: unknown, origin: string): void {
    if (value === undefined) return;
    this.tree = changed(this.tree, path, () => value);
    this.origins.set(formatPath(path), origin);
  }

  append(path: Path, items: readonly unknown[], origin: string): void {
    if (items.length === 0) return;
    const first = lengthAt(this.tree, path);
    this.tree = changed(this.tree, path, appended(items));
    items.forEach((_, index) => this.origins.set(formatPath([...path, first + index]), origin));
  }
}

/** Lays variables and flags over a tree. */
export function override(
  tree: Tree,
  overrides: CliOverrides,
  env: Readonly<Record<string, string | undefined>>,
): Overridden {
  const layers = new Layers(tree);
  for (const { variable, path } of environmentOverrides) {
    const value = env[variable];
    if (value === undefined || value === '') continue;
    const isNumber = path[0] === 'cluster' && /^\d{1,9}$/.test(value);
    layers.set(path, isNumber ? Number(value) : value, variable);
  }
  if ((env[adminTokenVariable] ?? '') !== '') {
    const token = { name: 'environment', token: `env:${adminTokenVariable}`, scopes: ['admin'] };
    layers.append(['admin', 'tokens'], [token], adminTokenVariable);
  }
  layers.set(['listen', 'proxy'], overrides.listen, '--listen');
  layers.set(['listen', 'admin'], overrides.admin, '--admin');
  layers.set(['log', 'level'], overrides.logLevel, '--log-level');
  layers.set(
    ['log', 'file'],
    overrides.logFile === undefined ? undefined : resolve(overrides.logFile),
    '--log-file',
  );
  const { capture } = overrides;
  layers.set(['capture', 'dir'], capture === undefined ? undefined : resolve(capture), '--capture');
  const files = (overrides.upstreams ?? []).map((file) => ({ file: resolve(file) }));
  layers.append(['pools', 'default', 'upstreams'], files, '--upstreams');
  layers.append(['targets', 'allow'], overrides.allowTargets ?? [], '--allow-target');
  if (overrides.client !== undefined) {
    const client = { name: overrides.client, password: 'env:TURNPIKE_CLIENT_PASSWORD' };
    layers.append(['clients'], [client], '--client');
  }
  return layers;
}
